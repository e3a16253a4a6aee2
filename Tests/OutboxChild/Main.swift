import Dispatch
import LoaderChain
import LoaderChainPlatformC
import LoaderChainPlatformFoundation
import ReportOutbox

/// A program to be killed: it submits reports, prints each accepted one, and sends them.
///
/// Alternatively it submits reports, opens the outbox again, and prints the growth of its memory in bytes.
///
/// Or it submits reports, opens the outbox again, and prints by how many bytes its memory has grown meanwhile.
///
///     OutboxChild memory DIRECTORY COUNT
///
/// Each line is written with a separate call, so that it is complete before the process is killed.
@main
enum Main {
    static func main() async throws {
        let arguments = CommandLine.arguments
        if arguments.count == 6, arguments[1] == "points", let port = UInt16(arguments[3]),
            let count = Int(arguments[5])
        {
            return try await Points.main(arguments[2], port: port, prefix: arguments[4], count: count)
        }
        if arguments.count == 4, arguments[1] == "memory", let count = Int(arguments[3]) {
            return say("\(try Memory.growth(of: URL(filePath: arguments[2]), count: count))")
        }
        guard arguments.count == 5, let port = UInt16(arguments[2]), let count = Int(arguments[4]) else {
            say("usage: OutboxChild DIRECTORY PORT PREFIX COUNT")
            exit(2)
        }
        var settings = OutboxSettings()
        settings.maximumAttempts = .max
        settings.firstDelay = .milliseconds(1)
        settings.maximumDelay = .milliseconds(20)
        settings.maximumRetryAfter = .milliseconds(20)
        let outbox = try ReportOutbox(
            directory: URL(filePath: arguments[1]), chain: SocketTerminal(port: port), settings: settings,
            startsSending: false)
        say("open")
        let events = outbox.events
        outbox.startSending()
        Task.detached {
            for index in 0..<count {
                let id = "\(arguments[3])-\(index)"
                do {
                    try outbox.submit(
                        content(of: id), identifier: id, request: HTTPRequest(method: .put, url: url(port)))
                    say("accepted \(id)")
                } catch {
                    say("failed \(error)")
                }
            }
            say("submitted")
        }
        var submitted = count == 0
        for await event in events {
            switch event {
            case .accepted(let id): submitted = submitted || id.rawValue == "\(arguments[3])-\(count - 1)"
            case .sending: say("sending")
            case .willRetry: say("retrying")
            case .delivered(let id, _): say("delivered \(id)")
            case .deadLettered(let id, let loss), .dropped(let id, let loss): say("lost \(id) \(loss)")
            case .joined, .found, .foreignFiles, .trouble: say("\(event)")
            }
            if submitted && outbox.count == 0 { say("empty") }
        }
    }

    private static func url(_ port: UInt16) -> URL {
        URL(string: "http://127.0.0.1:\(port)/reports") ?? URL(filePath: "/")
    }

    /// Bytes that are derived from the identifier, so that the test can check whether they are complete.
    private static func content(of id: String) -> Data {
        var seed: UInt64 = 0
        for byte in id.utf8 { seed = seed &* 31 &+ UInt64(byte) }
        var generator = SeededGenerator(seed: seed)
        return Data((0..<Int(generator.next() % 5_000)).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
    }
}

func say(_ text: String) {
    let line = Array((text + "\n").utf8)
    _ = write(1, line, line.count)
}
