import LoaderChain
import ReportOutbox

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// How much memory an outbox with many reports uses.
enum Memory {
    /// By how many bytes the process grows when `count` reports are submitted and loaded again.
    static func growth(of directory: URL, count: Int) throws -> Int {
        let before = resident
        var settings = OutboxSettings()
        settings.maximumCount = .max
        try submit(count, to: try open(directory, settings))
        let box = try open(directory, settings)
        box.drain()
        guard box.count == count else { throw CocoaError(.fileReadUnknown) }
        return resident - before
    }

    private static func open(_ directory: URL, _ settings: OutboxSettings) throws -> ReportOutbox {
        try ReportOutbox(directory: directory, chain: HTTPLoader(), settings: settings, startsSending: false)
    }

    private static func submit(_ count: Int, to box: ReportOutbox) throws {
        for index in 0..<count {
            try box.submit(
                Data("\(index)".utf8), identifier: "id-\(index)",
                request: HTTPRequest(method: .put, host: "example.com", path: "/reports"))
        }
        box.drain()
    }

    /// The memory of the process; 0 if the system does not report it.
    private static var resident: Int {
        guard let text = try? String(contentsOf: URL(filePath: "/proc/self/statm"), encoding: .utf8) else { return 0 }
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
    }
}
