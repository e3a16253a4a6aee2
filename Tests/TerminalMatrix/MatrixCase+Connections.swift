import LoaderChain
import LoaderChainTesting

// What a terminal makes of connections that fail, of TLS and of proxies.

extension MatrixCase {
    static let failures: [MatrixCase] = [
        MatrixCase(.failures, "nothing listens", .nothing, expecting: .error(.cannotConnect)),
        MatrixCase(.failures, "there is no route to the host", .nothing, expecting: .error(.cannotConnect)) {
            $0.host = "255.255.255.255"
        },
        MatrixCase(
            .failures, "the connection is closed without a byte", .reply { _ in .hangUp() },
            expecting: .error(.connectionLost)),
        MatrixCase(
            .failures, "the connection is reset", .reply { _ in .abort() }, expecting: .error(.connectionLost)),
        MatrixCase(
            .failures, "the connection is reset within the body", .reply { _ in .ok("hello").aborting(at: .body(3)) },
            expecting: .error(.connectionLost)),
        MatrixCase(
            .failures, "the same for `POST`", .reply { _ in .abort() },
            expecting: .error(.connectionLost).after("POST / with 4 bytes")
        ) {
            $0.method = .post
            $0.body = DataBody(.init("body".utf8))
        },
    ]

    static let tls: [MatrixCase] = [
        MatrixCase(
            .tls, "an authority of your own", .tls(.trusted), expecting: .page,
            urlSession: .error(.insecureConnection)),
        MatrixCase(
            .tls, "an authority that is not trusted", .tls(.unknownAuthority), expecting: .error(.insecureConnection)),
        MatrixCase(
            .tls, "a certificate for another name", .tls(.anotherName), expecting: .error(.insecureConnection)),
        MatrixCase(
            .tls, "an expired certificate", .tls(.expired), expecting: .error(.insecureConnection)),
        MatrixCase(.tls, "nothing newer than TLS 1.1", .tls(.oldVersion), expecting: .error(.insecureConnection)),
        MatrixCase(
            .tls, "a server that wants a certificate of the client", .tls(.wantsCertificate),
            expecting: .error(.insecureConnection)),
        MatrixCase(.tls, "a server without TLS", .ok, expecting: .error(.insecureConnection)) {
            $0.scheme = "https"
        },
        MatrixCase(
            .tls, "a server that ends the connection at once", .end(isProxy: false),
            expecting: .error(.cannotConnect)
        ) { $0.scheme = "https" },
    ]

    static let proxies: [MatrixCase] = throughProxies + refusedTunnels

    private static let throughProxies: [MatrixCase] = [
        MatrixCase(
            .proxies, "a plain request", .proxy { _ in .ok("ok") }, expecting: .sent("GET http://example.invalid/")),
        MatrixCase(
            .proxies, "a tunnel to a trusted server", .tunnel(.trusted, head: consent), expecting: .page,
            urlSession: .error(.insecureConnection)),
        MatrixCase(
            .proxies, "a tunnel to a server that is not trusted", .tunnel(.unknownAuthority, head: consent),
            expecting: .error(.insecureConnection)),
        MatrixCase(
            .proxies, "a proxy that ends the connection", .end(isProxy: true), expecting: .error(.connectionLost)),
    ]

    private static let refusedTunnels = [403, 407, 502].map { status in
        MatrixCase(
            .proxies, "a tunnel refused with \(status)",
            .proxy { _ in .text("no", status: HTTPStatus(status)).header("Proxy-Authenticate", "Basic realm=\"p\"") },
            expecting: .error(.cannotConnect).after("CONNECT example.invalid:443")
        ) { $0.scheme = "https" }
    }

    private static let consent = "HTTP/1.1 200 Connection established\r\nVia: 1.1 proxy\r\n\r\n"
}
