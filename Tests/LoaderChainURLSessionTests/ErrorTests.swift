import Foundation
import LoaderChain
import LoaderChainTesting
import Testing

@testable import LoaderChainURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Every failure that can be produced on loopback, and its code.
@Suite(.timeLimit(.minutes(10))) struct ErrorTests {
    @Test func aRefusedConnection() async throws {
        let port = try ClosedPort()
        let url = try #require(URL(string: "http://127.0.0.1:\(port.number)/"))
        let error = await URLSessionLoader(configuration: .patient).failure(HTTPRequest(url: url))
        withExtendedLifetime(port) {}
        #expect(error?.code == .cannotConnect)
        #expect((error?.underlyingError as? URLError)?.code == .cannotConnectToHost)
        #expect(error?.request.url == url)
        #expect(error?.loader == "URLSessionLoader")
    }

    @Test func anUnknownHost() async {
        // A name server may take its time to say so.
        let error = await URLSessionLoader(configuration: .patient)
            .failure(HTTPRequest(scheme: "http", host: "no-such-host.invalid"))
        #expect(error?.code == .cannotConnect)
        #expect(error?.underlyingError is URLError)
    }

    @Test func aConnectionThatEndsWithoutAByte() async throws {
        let site = try Site()
        site.server.route("/") { _ in .hangUp() }
        #expect(await site.failure("/")?.code == .connectionLost)
    }

    @Test func aReset() async throws {
        let site = try Site()
        site.server.route("/") { _ in .abort() }
        #expect(await site.failure("/")?.code == .connectionLost)
    }

    @Test(arguments: [LoopbackReply.Place.body(0), .body(3)])
    func aBodyThatBreaksOff(_ place: LoopbackReply.Place) async throws {
        let site = try Site()
        site.server.route("/torn") { _ in .ok("hello").hangingUp(at: place) }
        let error = try #require(await site.failure("/torn"))
        #expect(error.code == .connectionLost)
        #expect(error.response?.status == .ok)
        #expect(error.response?.metrics != nil)
    }

    @Test func aResetWithinTheBody() async throws {
        let site = try Site()
        site.server.route("/torn") { _ in .ok(pattern(100_000)).aborting(at: .body(60_000)) }
        #expect(await site.failure("/torn")?.code == .connectionLost)
    }

    @Test func chunksThatBreakOff() async throws {
        let site = try Site()
        site.server.route("/torn") { _ in .chunks(["hel", "lo"]).hangingUp(at: .body(9)) }
        #expect(await site.failure("/torn")?.code == .connectionLost)
    }

    @Test(arguments: [
        "\u{1}\u{2} nothing like it\r\n\r\n", "HTTP/1.1 9999 x\r\n\r\n", "HTTP/3.7 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
    ])
    func garbage(_ bytes: String) async throws {
        let site = try Site()
        site.server.route("/") { _ in .verbatim(bytes) }
        let error = try #require(await site.failure("/"))
        #expect(error.code == .invalidResponse)
        #expect(error.underlyingError is URLError)
    }

    @Test func noErrorShowsASecretOrTheURLsQuery() async throws {
        let site = try Site()
        site.server.route("/") { _ in .abort() }
        let error = try #require(
            await site.failure("/?token=hidden-in-the-query") { $0.headers["Authorization"] = "hidden-in-the-header" })
        for text in ["\(error)", error.localizedDescription] { #expect(!text.contains("hidden")) }
    }

    @Test(arguments: [
        (URLError.Code.notConnectedToInternet, HTTPError.Code.cannotConnect), (.cannotFindHost, .cannotConnect),
        (.dnsLookupFailed, .cannotConnect), (.cannotConnectToHost, .cannotConnect), (.timedOut, .timedOut),
        (.networkConnectionLost, .connectionLost), (.cancelled, .cancelled),
        (.userCancelledAuthentication, .cancelled), (.secureConnectionFailed, .insecureConnection),
        (.serverCertificateUntrusted, .insecureConnection), (.serverCertificateHasBadDate, .insecureConnection),
        (.clientCertificateRequired, .insecureConnection), (.httpTooManyRedirects, .tooManyRedirects),
        (.dataLengthExceedsMaximum, .responseTooLarge), (.cannotParseResponse, .invalidResponse),
        (.badURL, .invalidRequest), (.fileDoesNotExist, .invalidRequest), (.cannotWriteToFile, .cannotStoreResponse),
    ])
    func theTable(_ theirs: URLError.Code, _ ours: HTTPError.Code) {
        #expect(HTTPError.Code(URLError(theirs), afterHead: false) == ours)
        #expect(HTTPError.Code(URLError(theirs), afterHead: true) == ours)
    }
}
