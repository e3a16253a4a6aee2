import Foundation
import LoaderChain
import LoaderChainTesting
import TestSizes

/// The memory use of transfers and long runs.
enum Memory {
    enum Download { case file, chunks, slowChunks }
    enum Upload { case file, multipart }
    enum Stream { case lines, events }

    /// Downloads some MiB, and returns the rise of the process's memory peak.
    static func downloading(_ mebibytes: Int, into kind: Download) async throws -> String {
        let size = mebibytes << 20
        let server = try BulkServer(size: size)
        let loader = makeTerminal()
        let file = FileManager.default.temporaryDirectory.appending(path: "LoaderChainTests-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        var request = HTTPRequest(scheme: "http", host: "127.0.0.1", port: server.port, path: "/")
        request.delivery = kind == .file ? .file(file) : .chunks
        let start = residentPeak()
        let response = try await loader.load(request)
        var count = 0
        if let chunks = response.chunks {
            // The slow reader reads nothing until everything has arrived.
            if kind == .slowChunks {
                try await eventually("everything has arrived", within: .seconds(540)) {
                    loader.details == "in flight 0"
                }
            }
            for try await chunk in chunks { count += chunk.count }
        } else {
            count = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int ?? 0
        }
        return report(count == size, start)
    }

    /// Reads some MiB of short lines or events, and returns the same.
    static func streaming(_ mebibytes: Int, as kind: Stream) async throws -> String {
        let size = mebibytes << 20
        let line = kind == .lines ? "" : "data:"
        let end = kind == .lines ? "\n" : "\n\n"
        let text = line + String(repeating: "x", count: 1_024 - line.utf8.count - end.utf8.count) + end
        let server = try BulkServer(size: size, of: Array(text.utf8), contentType: "text/event-stream")
        let loader = makeTerminal()
        var request = HTTPRequest(scheme: "http", host: "127.0.0.1", port: server.port, path: "/")
        request.delivery = .chunks
        let start = residentPeak()
        let response = try await loader.load(request)
        var count = 0
        switch kind {
        case .lines: for try await line in response.lines() { count += line.utf8.count + end.utf8.count }
        case .events:
            for try await event in response.serverSentEvents() {
                count += line.utf8.count + event.data.utf8.count + end.utf8.count
            }
        }
        return report(count == size, start)
    }

    /// Downloads some MiB from a server that closes the connection after each seventh of them, and returns the same.
    static func resuming(_ mebibytes: Int) async throws -> String {
        let size = mebibytes << 20
        let server = try BulkServer(size: size, mostAtOnce: size / 7)
        let folder = FileManager.default.temporaryDirectory.appending(path: "LoaderChainTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "film")
        var settings = ResumableDownload.Settings()
        settings.maximumFailures = 10
        settings.firstDelay = .zero
        let chain = ResumableDownload(settings) --> makeTerminal()
        var request = HTTPRequest(scheme: "http", host: "127.0.0.1", port: server.port, path: "/")
        request.delivery = .file(file)
        let start = residentPeak()
        _ = try await chain.load(request)
        let count = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int
        return report(count == size, start)
    }

    static func uploading(_ mebibytes: Int, as kind: Upload) async throws -> String {
        let size = mebibytes << 20
        let file = FileManager.default.temporaryDirectory.appending(path: "LoaderChainTests-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data().write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        // A file with a hole, whose bytes are read as zeros.
        try handle.truncate(atOffset: UInt64(size))
        try handle.close()
        let server = try BulkServer(size: 0)
        let loader = makeTerminal()
        var request = HTTPRequest(method: .post, scheme: "http", host: "127.0.0.1", port: server.port, path: "/")
        request.body = kind == .file ? FileBody(file) : MultipartBody([.field("a", "b"), .file("film", file)])
        let start = residentPeak()
        _ = try await loader.load(request)
        return report(server.bytesReceived >= size, start)
    }

    /// Loads many small responses, and returns the memory that a quarter of them left behind.
    ///
    /// The responses of the first quarter fill the allocator's caches. A leak is in each of the others, whereas a thread that
    /// starts late or memory that is freed is in only one of them: so the median counts.
    static func growth(over count: Int) async throws -> String {
        let server = try BulkServer(size: 11)
        let request = HTTPRequest(scheme: "http", host: "127.0.0.1", port: server.port, path: "/")
        let loader = makeTerminal()
        func run(_ count: Int) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<16 {
                    group.addTask {
                        for _ in stride(from: worker, to: count, by: 16) {
                            _ = try await loader.load(request)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        var quarters: [Int] = []
        for _ in 0..<4 {
            let before = resident()
            try await run(count / 4)
            quarters.append((resident() - before) / 1024)
        }
        let median = quarters[1...].sorted()[1]
        let all = quarters.map { "\($0)" }.joined(separator: ", ")
        return "complete: \(all); of the last three, the median is \(median) KiB"
    }

    private static func report(_ isComplete: Bool, _ start: Int) -> String {
        "\(isComplete ? "complete" : "INCOMPLETE"): \((residentPeak() - start) / 1024) KiB"
    }

    static func residentPeak() -> Int { status("VmHWM:") }
    static func resident() -> Int { status("VmRSS:") }

    /// A figure of the process, in bytes; 0 if the system does not provide it.
    private static func status(_ name: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }
}
