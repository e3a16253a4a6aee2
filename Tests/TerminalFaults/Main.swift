import Foundation
import LoaderChain
import TerminalStorms

/// Runs code that might crash, so that a test can watch it from another process.
///
/// The arguments are the task and the number of repetitions, and the variable `TERMINAL` says `curl` for the terminal over libcurl. The
/// program prints one line, which the test compares.
@main
enum Main {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let count = arguments.count > 1 ? Int(arguments[1]) ?? 0 : 0
        var storming: HTTPLoader { makeTerminal() }
        var fuzzed: HTTPLoader { makeTerminal(responseSizeLimit: 100_000) }
        switch arguments.first {
        case "answer": print(try await Faults.answer(to: arguments[1]))
        case "load": print(await Faults.load(arguments[1], arguments[2]))
        case "exhausted": print(await Faults.load(arguments[1], "memory", isExhausted: true))
        case "cancels": print(try await Storm.cancels(count, with: storming))
        case "redirects": print(try await Storm.cancelledRedirects(count, with: storming))
        case "uploads": print(try await Storm.cancelledUploads(count, with: storming))
        #if os(Linux)
            case "kills": print(try await Storm.killedServers(count, with: storming))
        #endif
        case "fuzz": print(try await Fuzz.exchanges(count, cutsHeads: isCurl, with: fuzzed))
        case "growth": print(try await Memory.growth(over: count))
        case "file": print(try await Memory.downloading(count, into: .file))
        case "chunks": print(try await Memory.downloading(count, into: .chunks))
        case "slow-chunks": print(try await Memory.downloading(count, into: .slowChunks))
        case "lines": print(try await Memory.streaming(count, as: .lines))
        case "events": print(try await Memory.streaming(count, as: .events))
        case "resumes": print(try await Memory.resuming(count))
        case "upload": print(try await Memory.uploading(count, as: .file))
        case "multipart": print(try await Memory.uploading(count, as: .multipart))
        default: print("There is nothing of that name")
        }
        // Immediately: other threads still release parts of the last request, and the leak check would find them.
        fflush(nil)
        _exit(0)
    }
}
