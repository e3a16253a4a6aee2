import LoaderChain
import LoaderChainPlatformFoundation
import ReportOutbox

/// The memory use of an outbox with many reports.
enum Memory {
    /// The growth of the process in bytes after `count` reports are submitted and loaded again.
    static func growth(of directory: URL, count: Int) throws -> Int {
        let before = resident
        var settings = OutboxSettings()
        settings.maximumCount = .max
        try submit(count, to: try open(directory, settings))
        let outbox = try open(directory, settings)
        outbox.drain()
        guard outbox.count == count else { throw CocoaError(.fileReadUnknown) }
        return resident - before
    }

    private static func open(_ directory: URL, _ settings: OutboxSettings) throws -> ReportOutbox {
        try ReportOutbox(directory: directory, chain: HTTPLoader(), settings: settings, startsSending: false)
    }

    private static func submit(_ count: Int, to outbox: ReportOutbox) throws {
        for index in 0..<count {
            try outbox.submit(
                Data("\(index)".utf8), identifier: "id-\(index)",
                request: HTTPRequest(method: .put, host: "example.com", path: "/reports"))
        }
        outbox.drain()
    }

    /// The memory of the process; 0 if the system does not report it.
    private static var resident: Int {
        guard let text = try? String(contentsOf: URL(filePath: "/proc/self/statm"), encoding: .utf8) else { return 0 }
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
    }
}
