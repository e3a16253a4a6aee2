import LoaderChain
import LoaderChainPlatformFoundation
import LoaderChainTesting

// What a terminal sends.

extension MatrixCase {
    static let methods: [MatrixCase] = [
        "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "PURGE", "get",
    ].flatMap { method in
        let answer = method == "HEAD" ? "" : "ok"
        let sent = { (body: String) in MatrixOutcome.sent("\(method) /\(body)", body: answer, words: "sent as it is") }
        let isWithoutBody = ["GET", "HEAD", "TRACE"].contains(method)
        let isRenamed = method != method.uppercased()
        return [
            MatrixCase(
                .methods, "`\(method)`", .ok, expecting: sent(""),
                urlSession: isRenamed ? .error(.invalidRequest) : nil
            ) { $0.method = HTTPMethod(method) },
            MatrixCase(
                .methods, "`\(method)` with a body", .ok,
                expecting: isWithoutBody ? .error(.invalidRequest) : sent(" with 4 bytes"),
                urlSession: isRenamed ? .error(.invalidRequest) : nil
            ) {
                $0.method = HTTPMethod(method)
                $0.body = DataBody(Data("body".utf8))
            },
        ]
    }

    static let redirects: [MatrixCase] =
        [301, 302, 303, 307, 308].flatMap(followed) + locations + nowhere + otherRedirects

    /// A redirect of each kind of request.
    private static func followed(after status: Int) -> [MatrixCase] {
        ["GET", "HEAD", "POST", "PUT", "DELETE"].map { method in
            let becomesGet = status == 303 ? method != "HEAD" : [301, 302].contains(status) && method == "POST"
            let hasBody = method == "POST" || method == "PUT"
            let first = "\(method) /\(hasBody ? " with 4 bytes" : "")"
            let second = becomesGet ? "GET /next" : first.replacing("/", with: "/next")
            let expected = MatrixOutcome.sent(
                first, second, body: method == "HEAD" || second.hasPrefix("HEAD") ? "" : "ok",
                words: becomesGet ? "followed by `GET`" : "followed by the same request")
            return MatrixCase(
                .redirects, "\(status) after `\(method)`\(hasBody ? " with a body" : "")",
                .redirect(status, to: "/next"), expecting: expected
            ) {
                $0.method = HTTPMethod(method)
                if hasBody { $0.body = DataBody(Data("body".utf8)) }
            }
        }
    }

    private static let locations: [MatrixCase] = [
        ("`next?a=b`", "next?a=b", "GET /next?a=b"), ("`/a/../next`", "/a/../next", "GET /next"),
        ("`/next#part`", "/next#part", "GET /next"), ("`/ü`", "/ü", "GET /%C3%BC"), ("`/a b`", "/a b", "GET /a%20b"),
        ("`?next`", "?next", "GET /?next"),
    ].map { (name: String, location: String, second: String) in
        MatrixCase(
            .redirects, "302 to \(name)", .redirect(302, to: location),
            expecting: .sent("GET /", second, words: "followed by `\(second)`"))
    }

    private static let nowhere: [MatrixCase] = [
        ("nowhere", nil, false), ("an empty location", "", false), ("`ftp://127.0.0.1/`", "ftp://127.0.0.1/", true),
        ("`file:///etc/passwd`", "file:///etc/passwd", true), ("`http://`", "http://", true),
    ].map { (name: String, location: String?, isAddress: Bool) in
        MatrixCase(
            .redirects, "302 to \(name)",
            .reply { _ in
                let reply = LoopbackReply.text("moved", status: .found)
                return location.map { reply.header("Location", $0) } ?? reply
            },
            expecting: .response(302, "moved", words: "the redirect is the response"),
            urlSession: isAddress ? nil : .response(302, "", words: "the redirect is the response, without its body"))
    }

    private static let otherRedirects: [MatrixCase] = [
        MatrixCase(.redirects, "a loop", .reply { _ in .redirect(to: "/") }, expecting: .error(.tooManyRedirects)),
        MatrixCase(
            .redirects, "307 after a body that can be read once", .redirect(307, to: "/next"),
            expecting: .error(.invalidRequest).after("POST / with 4 bytes")
        ) {
            let pieces = Locked([Data("body".utf8)])
            $0.method = .post
            $0.body = StreamBody { pieces.withLock { $0.popLast() } }
        },
        MatrixCase(
            .redirects, "302 that the request refuses", .redirect(302, to: "/next"),
            expecting: .response(302, "", words: "the redirect is the response").after("GET /")
        ) { $0.redirects = .refuse },
    ]

    static let paths: [MatrixCase] =
        pathsThatStay + pathsThatChange + queriesThatStay + queriesThatChange + otherTargets

    private static let pathsThatStay: [MatrixCase] = [
        "/a%2Fb", "/a%252", "/a..b/.c/...", "/%7Euser", "//a//b", "/a;b=1,2", "/+%20", "/a/", "/a:b@c",
        "/!$&'()*", "/%00", "/%C3%BC", "/%ff",
    ].map { path($0, sent: $0) }

    private static let pathsThatChange: [MatrixCase] = [
        path("/a/../b", sent: "/a/../b", urlSession: .error(.invalidRequest)),
        path("/./b", sent: "/./b", urlSession: .error(.invalidRequest)),
        path("/..", sent: "/..", urlSession: .error(.invalidRequest)), path("", sent: "/"),
        path("/%2e%2e/a", sent: "/%2e%2e/a", urlSession: .error(.invalidRequest)),
        path("/ü", sent: "/%C3%BC"), path("/a b", sent: "/a%20b"), path("/a?b", sent: "/a%3Fb"),
        path("/a%2", sent: "/a%252"), path("/a|b", sent: "/a%7Cb"), path("/{a}", sent: "/%7Ba%7D"),
        path("/a\\b", sent: "/a%5Cb"), path("/a#b", sent: "/a%23b"),
    ]

    private static let queriesThatStay: [MatrixCase] = [
        "", "a=b&c=d", "a=b+c", "a=%2B", "a", "a==b", "a=/?", "a=b&&c", "a='b'", "%61=1", "a;b",
    ].map { query($0, sent: $0) }

    private static let queriesThatChange: [MatrixCase] = [
        query("a=ü", sent: "a=%C3%BC"), query("a=b c", sent: "a=b%20c"), query("a[]=1", sent: "a%5B%5D=1"),
        query("a=%2", sent: "a=%252"), query("a=#b", sent: "a=%23b"),
    ]

    private static let otherTargets: [MatrixCase] = [
        MatrixCase(.paths, "a path of 8,000 bytes", .ok, expecting: .sent("GET /" + longPath, words: asItStands)) {
            $0.path = "/" + longPath
        },
        MatrixCase(.paths, "fragment `b`", .ok, expecting: .sent("GET /", words: "not sent")) { $0.fragment = "b" },
    ]

    private static let longPath = String(repeating: "a", count: 8_000)
    private static let asItStands = "sent as it stands"

    private static func path(_ path: String, sent: String, urlSession: MatrixOutcome? = nil) -> MatrixCase {
        MatrixCase(
            .paths, path.isEmpty ? "an empty path" : "`\(path)`", .ok,
            expecting: .sent("GET \(sent)", words: sent == path ? asItStands : "sent as `\(sent)`"),
            urlSession: urlSession
        ) { $0.path = path }
    }

    private static func query(_ query: String, sent: String) -> MatrixCase {
        MatrixCase(
            .paths, query.isEmpty ? "an empty query" : "`?\(query)`", .ok,
            expecting: .sent("GET /?\(sent)", words: sent == query ? asItStands : "sent as `?\(sent)`")
        ) { $0.query = query }
    }

    static let hosts: [MatrixCase] = namedHosts + otherSchemes

    private static let namedHosts: [MatrixCase] = [
        host("localhost"), host("LOCALHOST"), host("127.0.0.1"),
        host("::ffff:127.0.0.1", named: "`[::ffff:127.0.0.1]`, an IPv6 address", urlSession: .error(.invalidRequest)),
        MatrixCase(.hosts, "`HTTP://`, in capitals", .ok, expecting: .sent("GET /", words: "reached")) {
            $0.scheme = "HTTP"
        },
        MatrixCase(.hosts, "`no-such-host.invalid`", .ok, expecting: .error(.cannotConnect)) {
            $0.host = "no-such-host.invalid"
        },
        MatrixCase(.hosts, "no host", .ok, expecting: .error(.invalidRequest)) { $0.host = nil },
        MatrixCase(.hosts, "a host with a space", .ok, expecting: .error(.invalidRequest)) { $0.host = "a b" },
        MatrixCase(.hosts, "a host with a slash", .ok, expecting: .error(.invalidRequest)) { $0.host = "a/b" },
        MatrixCase(.hosts, "a user and a password", .ok, expecting: .error(.invalidRequest)) { request in
            let text = request.url?.absoluteString.replacing("://", with: "://user:word@")
            request.url = text.flatMap { URL(string: $0) }
        },
        MatrixCase(.hosts, "port 0", .ok, expecting: .error(.invalidRequest)) { $0.port = 0 },
        MatrixCase(.hosts, "port 65536", .ok, expecting: .error(.invalidRequest)) { $0.port = 65_536 },
    ]

    private static let otherSchemes = ["ftp", "file", "ws", "data"].map { scheme in
        MatrixCase(.hosts, "`\(scheme)://`", .ok, expecting: .error(.invalidRequest)) { $0.scheme = scheme }
    }

    private static func host(
        _ host: String, named name: String? = nil, urlSession: MatrixOutcome? = nil
    ) -> MatrixCase {
        MatrixCase(
            .hosts, name ?? "`\(host)`", .ok, expecting: .sent("GET /", words: "reached"), urlSession: urlSession
        ) { $0.host = host }
    }

    static let fields: [MatrixCase] = [
        field("`X-A: b`", sending: [("X-A", "b")], arriving: "X-A: b"),
        field(
            "`x-a: b`, in lower case", sending: [("x-a", "b")], arriving: "x-a: b",
            urlSession: .response("X-A: b", words: "sent as `X-A: b`")),
        field(
            "`X-A` twice", sending: [("X-A", "b"), ("X-A", "c")], arriving: "X-A: b, c"),
        field(
            "`Cookie` twice", sending: [("Cookie", "a=1"), ("Cookie", "b=2")], arriving: "Cookie: a=1; b=2"),
        field("an empty value", sending: [("X-A", "")], arriving: "X-A:"),
        field("`ü` in a value", sending: [("X-A", "ü")], arriving: "X-A: ü"),
        field(
            "a value of 20,000 bytes", sending: [("X-A", longPath + longPath)], arriving: "X-A: " + longPath + longPath),
        field("`Accept: a/b`", sending: [("Accept", "a/b")], arriving: "Accept: a/b"),
        field("`User-Agent: mine`", sending: [("User-Agent", "mine")], arriving: "User-Agent: mine"),
        refused("a line break in a value", "X-A", "b\r\nX-C: d"), refused("a NUL in a value", "X-A", "b\0"),
        refused("a space in a name", "X A", "b"), refused("an empty name", "", "b"),
        refused("`Host: other.example`", "Host", "other.example"),
        refused("`Content-Length: 5` of another body", "Content-Length", "5"),
    ]

    private static func field(
        _ name: String, sending fields: [(String, String)], arriving: String,
        urlSession: MatrixOutcome? = nil
    ) -> MatrixCase {
        MatrixCase(
            .fields, name,
            .reply { request in
                let lines = String(decoding: request.raw, as: UTF8.self).split(separator: "\r\n")
                let field = arriving.prefix { $0 != ":" } + ":"
                return .ok(lines.filter { $0.lowercased().hasPrefix(field.lowercased()) }.joined(separator: "|"))
            },
            expecting: .response(arriving, words: arriving.utf8.count > 100 ? asItStands : "sent as `\(arriving)`"),
            urlSession: urlSession
        ) { request in
            for (name, value) in fields { request.headers.append(value, for: name) }
        }
    }

    private static func refused(_ name: String, _ field: String, _ value: String) -> MatrixCase {
        MatrixCase(.fields, name, .ok, expecting: .error(.invalidRequest)) { $0.headers.append(value, for: field) }
    }
}

extension MatrixCase.Answer {
    static let ok = MatrixCase.Answer.reply { _ in .ok("ok") }

    /// A redirect from `/`, and an answer at every other path and with a query.
    static func redirect(_ status: Int, to location: String) -> Self {
        .reply { $0.target == "/" ? .redirect(to: location, status: HTTPStatus(status)) : .ok("ok") }
    }

    /// A text instead of a whole response, in Latin-1.
    static func verbatim(_ text: String) -> Self {
        let bytes = Data(text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
        return .reply { _ in .verbatim(bytes) }
    }
}
