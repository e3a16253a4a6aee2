import Foundation
import LoaderChain
import LoaderChainTesting
import TestServers
import Testing

@testable import LoaderChainURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Every failure that can be produced on loopback, and its code.
@Suite(.timeLimit(.minutes(10)), .everyTerminal) struct ErrorTests {
    @Test func refusedConnectionIsCannotConnect() async throws {
        let port = try ClosedPort()
        let url = try #require(URL(string: "http://127.0.0.1:\(port.number)/"))
        let error = await TestedTerminal.makeLoader().failure(HTTPRequest(url: url))
        withExtendedLifetime(port) {}
        #expect(error?.code == .cannotConnect)
        if TestedTerminal.current == .urlSession {
            #expect((error?.underlyingError as? URLError)?.code == .cannotConnectToHost)
        }
        #expect(error?.request.url == url)
        #expect(error?.loader == TestedTerminal.current.rawValue)
    }

    @Test func unknownHostIsCannotConnect() async {
        // A name server may take its time to report that.
        let error = await TestedTerminal.makeLoader()
            .failure(HTTPRequest(scheme: "http", host: "no-such-host.invalid"))
        #expect(error?.code == .cannotConnect)
        #expect(error?.underlyingError is URLError || TestedTerminal.current != .urlSession)
    }

    @Test func connectionClosedWithoutResponseIsConnectionLost() async throws {
        let site = try Site()
        site.server.route("/") { _ in .hangUp() }
        #expect(await site.failure("/")?.code == .connectionLost)
    }

    @Test func connectionResetIsConnectionLost() async throws {
        let site = try Site()
        site.server.route("/") { _ in .abort() }
        #expect(await site.failure("/")?.code == .connectionLost)
    }

    @Test(arguments: [LoopbackReply.Place.body(0), .body(3)])
    func truncatedBodyIsConnectionLost(_ place: LoopbackReply.Place) async throws {
        let site = try Site()
        site.server.route("/torn") { _ in .ok("hello").ofPlainType.hangingUp(at: place) }
        let error = try #require(await site.failure("/torn"))
        #expect(error.code == .connectionLost)
        #expect(error.response?.status == .ok)
        #expect(error.response?.metrics != nil)
    }

    @Test func connectionResetInBodyIsConnectionLost() async throws {
        let site = try Site()
        site.server.route("/torn") { _ in .ok(pattern(100_000)).aborting(at: .body(60_000)) }
        #expect(await site.failure("/torn")?.code == .connectionLost)
    }

    @Test func truncatedChunkedBodyIsConnectionLost() async throws {
        let site = try Site()
        site.server.route("/torn") { _ in .chunks(["hel", "lo"]).hangingUp(at: .body(9)) }
        #expect(await site.failure("/torn")?.code == .connectionLost)
    }

    private static let malformedResponses =
        [
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
        ] + malformedHeads
    #if os(Linux)
        private static let malformedHeads = [
            "\u{1}\u{2} nothing like it\r\n\r\n", "HTTP/1.1 9999 x\r\n\r\n", "HTTP/7.7 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 2\r\n\r\nok",
            "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nok",
        ]
    #else
        // How strict the sessions of Apple systems are is not known.
        private static let malformedHeads: [String] = []
    #endif

    @Test(arguments: malformedResponses)
    func malformedResponseIsInvalidResponse(_ bytes: String) async throws {
        let site = try Site()
        site.server.route("/") { _ in .verbatim(bytes) }
        let error = try #require(await site.failure("/"))
        #expect(error.code == .invalidResponse)
        #expect(error.underlyingError is URLError || TestedTerminal.current != .urlSession)
    }

    @Test func errorTextDoesNotContainSecretsOrQuery() async throws {
        let site = try Site()
        site.server.route("/") { _ in .abort() }
        let error = try #require(
            await site.failure("/?token=hidden-in-the-query") { $0.headers["Authorization"] = "hidden-in-the-header" })
        for text in ["\(error)", error.localizedDescription] { #expect(!text.contains("hidden")) }
    }

    private static let systemErrors: [(POSIXError.Code, HTTPError.Code?, HTTPError.Code?)] = [
        (.ECONNABORTED, .connectionLost, .connectionLost),
        (.ECONNREFUSED, .cannotConnect, .connectionLost), (.ETIMEDOUT, .connectionLost, .connectionLost),
        (.ENETDOWN, .connectionLost, .connectionLost), (.EPROTO, .invalidResponse, .invalidResponse),
        (.ENOSPC, .cannotStoreResponse, .cannotStoreResponse), (.EINVAL, nil, nil),
    ]

    @Test(arguments: systemErrors)
    func systemErrorMapsToErrorCode(_ theirs: POSIXError.Code, _ before: HTTPError.Code?, _ after: HTTPError.Code?) {
        #expect(HTTPError.Code(systemError: Int(theirs.rawValue), afterHead: false) == before)
        #expect(HTTPError.Code(systemError: Int(theirs.rawValue), afterHead: true) == after)
    }

    @Test(arguments: [
        (URLError.Code.notConnectedToInternet, HTTPError.Code.cannotConnect), (.cannotFindHost, .cannotConnect),
        (.dnsLookupFailed, .cannotConnect), (.timedOut, .timedOut),
        (.networkConnectionLost, .connectionLost), (.cancelled, .cancelled),
        (.userCancelledAuthentication, .cancelled), (.secureConnectionFailed, .insecureConnection),
        (.serverCertificateUntrusted, .insecureConnection), (.serverCertificateHasBadDate, .insecureConnection),
        (.clientCertificateRequired, .insecureConnection), (.httpTooManyRedirects, .tooManyRedirects),
        (.dataLengthExceedsMaximum, .responseTooLarge), (.cannotParseResponse, .invalidResponse),
        (.badURL, .invalidRequest), (.fileDoesNotExist, .invalidRequest), (.cannotWriteToFile, .cannotStoreResponse),
    ])
    func urlErrorCodeMapsToErrorCode(_ theirs: URLError.Code, _ ours: HTTPError.Code) {
        #expect(HTTPError.Code(URLError(theirs), afterHead: false) == ours)
        #expect(HTTPError.Code(URLError(theirs), afterHead: true) == ours)
    }

    #if os(Linux)
        @Test func unreachableNetworkIsCannotConnect() async {
            // The system does not connect to the broadcast address, because it has no route there.
            let error = await TestedTerminal.makeLoader()
                .failure(HTTPRequest(scheme: "http", host: "255.255.255.255"))
            #expect(error?.code == .cannotConnect)
            #expect(error?.reason?.contains("connect") == true, "\(error?.reason ?? "no reason")")
        }

        @Test(.only(.urlSession)) func exhaustedDescriptorsAreCannotConnect() async throws {
            let server = try LoopbackServer()
            server.fallback { _ in .ok("hello").closing() }
            let outcome = try await runFaults("exhausted", server.url("/").absoluteString)
            #expect(outcome.output.hasPrefix("cannotConnect nil"), "\(outcome.output)")
        }

        /// The messages of libcurl for errors that the session reports as -1.
        @Test(arguments: [
            (
                "Failed to connect to a.example port 80 after 2 ms: Couldn't connect to server",
                HTTPError.Code.cannotConnect
            ),
            ("Couldn't connect to server", .cannotConnect), ("Couldn't resolve proxy name", .cannotConnect),
            ("Could not resolve proxy: p.example", .cannotConnect), ("Couldn't bind to '10.0.0.1'", .cannotConnect),
            ("getaddrinfo() thread failed to start", .cannotConnect), ("Too many open files", .cannotConnect),
            ("Network is unreachable", .cannotConnect), ("No route to host", .cannotConnect),
            ("Permission denied", .cannotConnect), ("CONNECT tunnel failed, response 407", .cannotConnect),
            ("Received HTTP code 502 from proxy after CONNECT", .cannotConnect),
            ("Can't complete SOCKS5 connection to a.example. (4)", .cannotConnect),
            ("OpenSSL SSL_connect: Connection reset by peer in connection to a.example:443 ", .cannotConnect),
            ("OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to a.example:443 ", .cannotConnect),
            ("Failed to connect to a.example port 443 after 130000 ms: Connection timed out", .cannotConnect),
            ("TLS connect error: error:0A000126:SSL routines::unexpected eof while reading", .cannotConnect),
            ("TLS connect error: error:0A00010B:SSL routines::wrong version number", .insecureConnection),
            ("Recv failure: Connection reset by peer", .connectionLost), ("Send failure: Broken pipe", .connectionLost),
            ("Failure when receiving data from the peer", .connectionLost),
            ("Failed sending data to the peer", .connectionLost),
            ("Connection died, tried 5 times before giving up", .connectionLost),
            ("HTTP/2 stream 1 was not closed cleanly: INTERNAL_ERROR (err 2)", .connectionLost),
            ("HTTP/2 stream 0 was reset", .connectionLost),
            ("Error in the HTTP2 framing layer", .connectionLost),
            ("Stream error in the HTTP/2 framing layer", .connectionLost),
            ("OpenSSL SSL_read: error:0A000126:SSL routines::unexpected eof while reading, errno 0", .connectionLost),
            ("transfer closed with 5 bytes remaining to read", .connectionLost),
            ("necessary data rewind wasn't possible", .connectionLost),
            ("SSL certificate problem: certificate has expired", .insecureConnection),
            ("SSL: no alternative certificate subject name matches target host name 'a'", .insecureConnection),
            ("error:0A00010B:SSL routines::wrong version number", .insecureConnection),
            ("Operation was aborted by a callback", .invalidRequest),
            ("Illegal or missing hexadecimal sequence in chunked-encoding", .invalidResponse),
            ("Invalid Content-Length: value", .invalidResponse),
        ])
        func curlMessageMapsToErrorCode(_ message: String, _ code: HTTPError.Code) {
            let error = URLError(.unknown, userInfo: [NSLocalizedDescriptionKey: message])
            #expect(HTTPError.Code(error, afterHead: false) == code)
        }

        /// The session says so whatever has happened after an address has refused the connection.
        @Test(arguments: [
            ("Empty reply from server", HTTPError.Code.connectionLost),
            ("transfer closed with 95 bytes remaining to read", .connectionLost),
            ("Failed to connect to localhost port 1 after 0 ms: Couldn't connect to server", .cannotConnect),
            ("Connection refused", .cannotConnect),
            ("Received HTTP/0.9 when not allowed", .invalidResponse),
            ("Illegal or missing hexadecimal sequence in chunked-encoding", .invalidResponse),
            ("SSL certificate problem: certificate has expired", .insecureConnection),
        ])
        func refusedAddressBeforeAnotherOneDecidesNothing(_ message: String, _ code: HTTPError.Code) {
            let error = URLError(.cannotConnectToHost, userInfo: [NSLocalizedDescriptionKey: message])
            #expect(HTTPError.Code(error, afterHead: false) == code)
            let later: HTTPError.Code = code == .invalidResponse ? code : .connectionLost
            #expect(HTTPError.Code(error, afterHead: true) == later)
        }

        /// After a head, the connection was established.
        @Test(arguments: [
            "No route to host", "Network is unreachable", "Permission denied",
            "Couldn't connect to server",
            "Failed to connect to a.example port 80 after 2 ms: Connection timed out",
            "OpenSSL SSL_read: SSL_ERROR_SYSCALL, errno 110",
            "TLS connect error: error:0A000126:SSL routines::unexpected eof while reading",
        ])
        func curlMessageAfterHeadIsConnectionLost(_ message: String) {
            let error = URLError(.unknown, userInfo: [NSLocalizedDescriptionKey: message])
            #expect(HTTPError.Code(error, afterHead: true) == .connectionLost)
        }
    #endif
}
