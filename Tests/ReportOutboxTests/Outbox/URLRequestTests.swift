import DurableFilesTesting
import Foundation
import LoaderChain
import LoaderChainTesting
import LoaderChainURLSession
import TestSizes
import Testing

@testable import ReportOutbox

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The caller's own `URLRequest`, as in code that was written for another reporter.
@Suite(.timeLimit(.minutes(10))) struct URLRequestTests {
    private static func request(_ port: Int) throws -> URLRequest {
        let url = try #require(URL(string: "http://127.0.0.1:\(port)/v1/reports%2Fall?app=com.example&x=a+b%20c"))
        var request = URLRequest(url: url)
        request.httpMethod = "PUT"
        request.setValue("Compass 2.1", forHTTPHeaderField: "X-App")
        request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        return request
    }

    @Test func urlRequestIsStoredAndSentByNextLaunch() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.fallback { _ in .status(.noContent) }
        let directory = try TemporaryDirectory()
        var whole = try Self.request(server.port)
        whole.httpBody = Data("the body of the request".utf8)
        do {
            let outbox = try ReportOutbox(directory: directory.url, chain: HTTPLoader(), startsSending: false)
            try outbox.submit(HTTPRequest(whole), identifier: "whole")
            try outbox.submit(
                Data("the report".utf8), identifier: "data", request: HTTPRequest(Self.request(server.port)))
            await outbox.close()
        }
        let outbox = try ReportOutbox(directory: directory.url, chain: URLSessionLoader())
        try await eventually("both were delivered") { outbox.counters.delivered == 2 }
        await outbox.close()
        #expect(
            Set(server.requests.map { String(decoding: $0.body, as: UTF8.self) }) == [
                "the body of the request", "the report",
            ])
        for request in server.requests {
            #expect(request.method == "PUT")
            #expect(request.target == "/v1/reports%2Fall?app=com.example&x=a+b%20c")
            #expect(request.headers["X-App"] == "Compass 2.1")
            #expect(request.headers["Content-Type"] == "text/plain")
        }
    }

    @Test func urlRequestWithSecretIsRejectedAndNotWritten() throws {
        let disk = MemoryDirectory()
        let test = try TestOutbox(disk: disk, sends: false)
        var request = try Self.request(80)
        request.setValue("Bearer abc", forHTTPHeaderField: "Authorization")
        let own = try HTTPRequest(request)
        let error = #expect(throws: OutboxError.self) { try test.outbox.submit(Data("x".utf8), request: own) }
        #expect(error?.code == .secret && disk.names.isEmpty)
    }

    @Test func urlRequestWithStreamOrWithoutURLIsRejected() throws {
        var request = try Self.request(80)
        request.httpBodyStream = InputStream(data: Data("once".utf8))
        #expect(throws: HTTPBodyError.self) { try HTTPRequest(request) }
        request.httpBodyStream = nil
        request.url = nil
        #expect(throws: HTTPBodyError.self) { try HTTPRequest(request) }
    }

    @Test func urlRequestDefaultsAndTimeoutsAreConverted() throws {
        let url = try #require(URL(string: "https://example.com/a"))
        let request = try HTTPRequest(URLRequest(url: url))
        #expect(request.method == .get && request.body.isEmpty && request.headers.isEmpty)
        #expect(request.cachePolicy == nil && request.networkAccess == .all)
        #expect(request.timeout == nil)
        let timeouts: [(Double, Duration?)] = [
            (5, .seconds(5)), (0, nil), (-1, nil), (.nan, nil), (.infinity, .seconds(1e9)),
        ]
        for (seconds, timeout) in timeouts {
            var impatient = URLRequest(url: url)
            impatient.timeoutInterval = seconds
            #expect(try HTTPRequest(impatient).timeout == timeout)
        }
        var special = URLRequest(url: url)
        special.cachePolicy = .reloadIgnoringLocalCacheData
        #expect(try HTTPRequest(special).cachePolicy == .reloadIgnoringLocalCacheData)
    }
}
