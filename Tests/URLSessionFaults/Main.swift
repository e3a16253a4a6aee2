import Foundation

/// Does what could end its process, so that a test can watch from another one.
///
/// The arguments name what is to be done, and how much of it. It prints one line, which the test compares.
@main
enum Main {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let count = arguments.count > 1 ? Int(arguments[1]) ?? 0 : 0
        switch arguments.first {
        case "answer": print(try await Faults.answer(to: arguments[1]))
        case "cancels": print(try await Storm.cancels(count))
        case "redirects": print(try await Storm.cancelledRedirects(count))
        case "uploads": print(try await Storm.cancelledUploads(count))
        case "fuzz": print(try await Fuzz.exchanges(count))
        case "growth": print(try await Memory.growth(over: count))
        case "file": print(try await Memory.downloading(count, into: .file))
        case "chunks": print(try await Memory.downloading(count, into: .chunks))
        case "slow-chunks": print(try await Memory.downloading(count, into: .slowChunks))
        case "upload": print(try await Memory.uploading(count, as: .file))
        case "multipart": print(try await Memory.uploading(count, as: .multipart))
        default: print("There is nothing of that name")
        }
        // At once: other threads still let go of what the last request had, and a search for leaks would meet them at it.
        fflush(nil)
        _exit(0)
    }
}
