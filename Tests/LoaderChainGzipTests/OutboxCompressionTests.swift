import DurableFilesTesting
import Foundation
import LoaderChain
import LoaderChainTesting
import ReportOutbox
import TestGunzip
import Testing

@testable import LoaderChainGzip

/// Reports that an outbox compresses once, when they are submitted.
@Suite(.timeLimit(.minutes(10))) struct OutboxCompressionTests {
    private let disk = MemoryDirectory()
    private let terminal = ScriptedTerminal()
    private let report = Data(String(repeating: "frame 7 of thread 3\n", count: 2_000).utf8)
    private let request = HTTPRequest(method: .put, host: "reports.example.com", path: "/v1")

    private func open(
        _ change: (inout OutboxSettings) -> Void = { _ in },
        existing: (@Sendable (ExistingReport) -> ExistingReport.Decision)? = nil
    ) throws -> ReportOutbox {
        var settings = OutboxSettings()
        settings.timers = ManualTimers()
        settings.compression = { GzipBody($0) }
        change(&settings)
        return try ReportOutbox(files: disk, chain: terminal, settings: settings, existing: existing)
    }

    /// The next attempt, with its headers and bytes.
    private func next() async throws -> (HTTPHeaders, Data) {
        let task = await terminal.next()
        defer { task.complete(.success(HTTPResponse(request: task.request, status: .serviceUnavailable))) }
        let sent = try task.request.encoded()
        return (sent.headers, try sent.content.data(upTo: .max))
    }

    @Test func submittedReportIsStoredAndSentCompressed() async throws {
        let outbox = try open { $0.maximumReportBytes = 2_000 }
        try outbox.submit(report, request: request)
        #expect(outbox.bytes < 2_000)
        let (headers, bytes) = try await next()
        #expect(headers["Content-Encoding"] == "gzip" && headers["Content-Length"] == "\(outbox.bytes)")
        #expect(gunzipped(bytes) == report)
        await outbox.close()
    }

    @Test func storedReportStaysCompressedWhenRequestIsReplaced() async throws {
        let first = try open()
        try first.submit(report, request: request)
        _ = try await next()
        await first.close()
        var other = request
        other.headers["X-Launch"] = "2"
        other.headers["Content-Encoding"] = "identity"
        let replacement = other
        let second = try open {
            $0.compression = nil
        } existing: { _ in
            .replace(replacement)
        }
        second.sendNow()
        let (headers, bytes) = try await next()
        #expect(headers.values(for: "Content-Encoding") == ["gzip"] && headers["X-Launch"] == "2")
        #expect(gunzipped(bytes) == report)
        await second.close()
    }

    @Test(arguments: ["Content-Encoding", "Content-Digest", "Content-MD5"])
    func headerThatDescribesBodyPreventsCompression(_ name: String) async throws {
        let outbox = try open()
        var described = request
        described.headers[name] = "identity"
        try outbox.submit(report, request: described)
        let (headers, bytes) = try await next()
        #expect(headers[name] == "identity" && bytes == report)
        await outbox.close()
    }

    @Test func compressedBodyIsNotCompressedTwice() async throws {
        let outbox = try open()
        var whole = request
        whole.body = GzipBody(DataBody(report))
        try outbox.submit(whole)
        let (headers, bytes) = try await next()
        #expect(headers.values(for: "Content-Encoding") == ["gzip"] && gunzipped(bytes) == report)
        await outbox.close()
    }
}
