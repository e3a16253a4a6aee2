import LoaderChainPlatformFoundation
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct HTTPRequestTests {
    // MARK: The address

    @Test(arguments: [
        "https://example.com/", "http://example.com:8080/a/b?x=1&y=2#part", "https://[::1]:8443/a",
        "https://example.com/a%2Fb/%C3%BC?q=a+b%26c&sig=%2F%2B", "https://user:p%40ss@example.com/",
        "https://example.com", "https://example.com?only=query",
    ])
    func urlRoundTripsUnchanged(text: String) throws {
        let url = try #require(URL(string: text))
        let request = HTTPRequest(url: url)
        let back = try #require(request.url?.absoluteString)
        // An empty path is sent as a slash, and nothing else may differ.
        #expect(back == text || back == text.replacingEmptyPath, "\(back)")
    }

    /// A request keeps the URL that it was made from, but not once a part of it is another.
    @Test func changedPartIsInURL() throws {
        let changes: [(String, @Sendable (inout HTTPRequest) -> Void)] = [
            ("http://user@a.test:81/b?c#d", { $0.scheme = "http" }),
            ("https://a.test:81/b?c#d", { $0.setUserInfo(nil) }),
            ("https://user@[::1]:81/b?c#d", { $0.host = "[::1]" }), ("https://user@a.test/b?c#d", { $0.port = nil }),
            ("https://user@a.test:81/e?c#d", { $0.path = "e" }),
            ("https://user@a.test:81/b?e=f#d", { $0.query = "e=f" }),
            ("https://user@a.test:81/b?e#d", { $0.queryItems = [HTTPQueryItem("e", nil)] }),
            ("https://user@a.test:81/b?c", { $0.fragment = nil }),
        ]
        let request = HTTPRequest(url: try #require(URL(string: "https://user@a.test:81/b?c#d")))
        for (expected, change) in changes { #expect(request.with(change).url?.absoluteString == expected) }
    }

    @Test func urlIsBuiltFromParts() {
        var request = HTTPRequest(method: .post, host: "api.example.com", path: "/v1/users")
        request.queryItems = [HTTPQueryItem("q", "a b&c=d+e"), HTTPQueryItem("flag", nil), HTTPQueryItem("ü", "")]
        request.port = 8443
        #expect(
            request.url?.absoluteString
                == "https://api.example.com:8443/v1/users?q=a%20b%26c%3Dd%2Be&flag&%C3%BC=")
        #expect(
            request.queryItems == [HTTPQueryItem("q", "a b&c=d+e"), HTTPQueryItem("flag", nil), HTTPQueryItem("ü", "")])
    }

    @Test func anyTextRoundTripsAsQueryItem() {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<500 {
            let text = String(
                (0..<8).map { _ in "aZ0 %&=+#?/;\\\"'<>\u{0}\n\r\u{301}é漢🎉".randomElement(using: &random) ?? "x" })
            var request = HTTPRequest(host: "example.com")
            request.queryItems = [HTTPQueryItem(text, text)]
            #expect(request.queryItems == [HTTPQueryItem(text, text)])
            #expect(request.url != nil, "\(text.debugDescription)")
        }
    }

    @Test(arguments: [
        ("/a b", "/a%20b"), ("/100%", "/100%25"), ("/a%20b", "/a%20b"), ("/ü", "/%C3%BC"), ("/a?b", "/a%3Fb"),
        ("/%zz", "/%25zz"), ("people", "people"),
    ])
    func pathIsPercentEncodedOnce(given: String, encoded: String) {
        #expect(HTTPRequest(host: "example.com", path: given).path == encoded)
    }

    @Test func relativePathStartsAtRoot() {
        #expect(HTTPRequest(host: "example.com", path: "people").url?.absoluteString == "https://example.com/people")
    }

    @Test func urlWithoutHostIsNil() {
        #expect(HTTPRequest(path: "/v1").url == nil)
        #expect(HTTPRequest(host: "", path: "/v1").url == nil)
    }

    // MARK: As a value

    @Test func copyIsIndependent() {
        let original = HTTPRequest.sample
        var copy = original
        copy.method = .put
        copy.headers["A"] = "b"
        copy.path = "/other"
        copy[option: Level.self] = 9
        #expect(original.method == .get)
        #expect(original.headers.isEmpty)
        #expect(original.path == "/v1/users")
        #expect(original[option: Level.self] == 1)
        #expect(copy[option: Level.self] == 9)
    }

    // MARK: Options

    private enum Level: HTTPRequestOption { static var defaultOptionValue: Int { 1 } }
    private enum Label: HTTPRequestOption { static var defaultOptionValue: String? { nil } }
    private enum Big: HTTPRequestOption { static var defaultOptionValue: [String: [Int]] { [:] } }
    private enum Counted: HTTPRequestOption { static var defaultOptionValue: Token? { nil } }
    private final class Token: Sendable {}

    @Test func optionsOfAnyTypeAreReadBack() {
        var request = HTTPRequest.sample
        #expect(request[option: Label.self] == nil)
        request[option: Label.self] = "a text that is too long to be stored without an allocation"
        request[option: Big.self] = ["a": [1, 2, 3]]
        request[option: Level.self] = 2
        request[option: Level.self] = 3
        #expect(request[option: Label.self]?.count == 58)
        #expect(request[option: Big.self] == ["a": [1, 2, 3]])
        #expect(request[option: Level.self] == 3)
        request[option: Label.self] = nil
        #expect(request[option: Label.self] == nil)
    }

    private struct Weak: Sendable { weak var token: Token? }
    private enum WeakOption: HTTPRequestOption { static var defaultOptionValue: Weak { Weak() } }
    private enum Wide: HTTPRequestOption { static var defaultOptionValue: SIMD4<Float> { .zero } }
    private enum Three: HTTPRequestOption { static var defaultOptionValue: (Int, String) { (0, "") } }
    private enum Four: HTTPRequestOption { static var defaultOptionValue: (String, String) { ("", "") } }
    private enum Nothing: HTTPRequestOption { static var defaultOptionValue: Void { () } }
    private enum Byte: HTTPRequestOption { static var defaultOptionValue: UInt8 { 0 } }
    private enum Closure: HTTPRequestOption { static var defaultOptionValue: @Sendable () -> Int { { 0 } } }

    @Test func optionsOfEverySizeAndLayoutAreStored() {
        let token = Token()
        let seven = 7
        var request = HTTPRequest.sample
        request[option: WeakOption.self] = Weak(token: token)
        request[option: Wide.self] = [1, 2, 3, 4]
        request[option: Three.self] = (3, "a text of some length, on the heap")
        request[option: Four.self] = ("another text of some length", "and one more text of some length")
        request[option: Nothing.self] = ()
        request[option: Byte.self] = 255
        request[option: Closure.self] = { seven }
        let copy = request
        request[option: Byte.self] = 1
        #expect(copy[option: WeakOption.self].token === token)
        #expect(copy[option: Wide.self] == [1, 2, 3, 4])
        #expect(copy[option: Three.self] == (3, "a text of some length, on the heap"))
        #expect(copy[option: Four.self] == ("another text of some length", "and one more text of some length"))
        #expect(copy[option: Byte.self] == 255)
        #expect(copy[option: Closure.self]() == 7)
        withExtendedLifetime(token) {}
    }

    @Test func optionsReleaseTheirValues() {
        weak var gone: Token?
        do {
            var request = HTTPRequest.sample
            let token = Token()
            gone = token
            request[option: Counted.self] = token
            for _ in 0..<10 { #expect(request[option: Counted.self] === token) }
        }
        #expect(gone == nil)
    }

    // MARK: As text

    @Test func descriptionIsCurlCommandWithoutSecrets() {
        var request = HTTPRequest(
            method: .post, host: "example.com", path: "/login", body: FormBody([("password", "hunter2")]))
        request.headers = ["Authorization": "Bearer abc", "Accept": "it's"]
        request.queryItems = [HTTPQueryItem("token", "xyz")]
        #expect(
            "\(request)" == """
                curl -X POST -H 'Authorization: <redacted>' -H 'Accept: it'\\''s' \
                -H 'Content-Type: application/x-www-form-urlencoded' --data-raw '<16 bytes>' \
                --url 'https://example.com/login?token=redacted'
                """)
        let whole = request.curlCommand(includingSecrets: true)
        #expect(whole.contains("Bearer abc"))
        #expect(whole.contains("'password=hunter2'"))
        #expect(whole.contains("token=xyz"))
    }

    /// For a shell, a quote ends a word whatever mark follows it.
    @Test(arguments: ["\u{301}", "\u{FE0F}", "\u{200D}"])
    func quoteBeforeCombiningMarkIsQuoted(mark: String) {
        let request = HTTPRequest(host: "a.b", headers: ["If-Match": "'\(mark);touch x;#"])
        #expect(Data("\(request)".utf8).firstRange(of: Data("'\\''".utf8)) != nil)
    }

    @Test func descriptionsContainNoSecrets() throws {
        let url = try #require(URL(string: "https://user:secret1@example.com/a?key=secret2#secret3"))
        var request = HTTPRequest(url: url, body: DataBody(Data("secret4".utf8), contentType: "text/plain"))
        request.headers["Cookie"] = "secret5"
        let response = HTTPResponse(
            request: request, status: .ok, headers: ["Set-Cookie": "secret6"], body: Data("secret7".utf8))
        let error = HTTPError(.unknown, request: request, response: response)
        var dumped = ""
        dump(request, to: &dumped)
        dump(try request.encoded(), to: &dumped)
        let texts = [
            "\(request)", "\(response)", "\(error)", error.errorDescription ?? "", String(reflecting: request),
            String(reflecting: error), "\(try request.encoded())", dumped, "\(HTTPTask(request: request))",
        ]
        for text in texts {
            #expect(!text.contains("secret"), "\(text)")
        }
    }

    // MARK: Refused before it is sent

    private static let bad: [(HTTPRequest, String)] = [
        (HTTPRequest(method: "G ET", host: "example.com"), "is not a valid method"),
        (HTTPRequest(method: "", host: "example.com"), "is not a valid method"),
        (HTTPRequest(scheme: "ftp", host: "example.com"), "neither http nor https"),
        (HTTPRequest(path: "/v1"), "has no host"),
        (HTTPRequest(host: "exa mple.com"), "is not valid"),
        (HTTPRequest(host: "example.com", headers: ["A": "b\r\nC: d"]), "carriage return"),
        (HTTPRequest(host: "example.com", headers: ["A": "b\nc"]), "line feed"),
        (HTTPRequest(host: "example.com", headers: ["A": "b\0"]), "null byte"),
        (HTTPRequest(host: "example.com", headers: ["A b": "c"]), "space"),
        (HTTPRequest(host: "example.com", headers: ["": "c"]), "empty"),
        (
            HTTPRequest(
                method: .post, host: "example.com", headers: ["Content-Length": "7"],
                body: DataBody(Data("abc".utf8), contentType: "text/plain")), "Content-Length says"
        ),
        (HTTPRequest(method: .post, host: "example.com", body: JSONBody(Double.nan)), "cannot be sent"),
        (
            HTTPRequest(method: .get, host: "example.com", body: DataBody(Data("abc".utf8), contentType: "text/plain")),
            "cannot have a body"
        ),
    ]

    @Test func invalidRequestIsRejectedWithReason() {
        for (request, reason) in Self.bad {
            do {
                _ = try request.encoded(bodyIsForbiddenFor: [.get])
                Issue.record("sent: \(request)")
            } catch {
                #expect(error.code == .invalidRequest)
                #expect(
                    error.reason?.lowercased().contains(reason.lowercased()) == true,
                    "\(error.reason ?? "") — \(reason)")
            }
        }
    }

    @Test(arguments: [
        "a.b/evil?x#", "trusted@evil.test", "::1]@evil.test/[", "a.b?x", "a.b#f", "localhost:8080", "a.b%2Fevil",
        "https://a.b", "b\u{FC}cher.de", "a b", "a\r\nb", "a\\b", "[::1", "a:b:c", String(repeating: "a.", count: 128),
    ])
    func invalidHostIsRejected(host: String) {
        let request = HTTPRequest(host: host, path: "/p")
        #expect(request.url == nil)
        #expect(throws: HTTPError.self) { try request.encoded() }
        #expect(!"\(request)".contains("\n"))
    }

    @Test(arguments: ["localhost", "a-b.c_d.test", "127.0.0.1", "::1", "[::1]", "fe80::1%25en0", "xn--bcher-kva.de"])
    func validHostIsEncoded(host: String) throws {
        let encoded = try HTTPRequest(host: host, port: 8080, path: "/p").encoded()
        #expect(encoded.url.port == 8080)
        #expect(encoded.url.path(percentEncoded: true) == "/p")
    }

    @Test(arguments: [0, -1, 65_536, Int.max])
    func invalidPortIsRejected(port: Int) {
        #expect(throws: HTTPError.self) { try HTTPRequest(host: "a.b", port: port).encoded() }
    }

    @Test(arguments: ["99999999999999999999", "65536", "0"])
    func invalidPortOfURLIsRejected(port: String) throws {
        let url = try #require(URL(string: "http://user:1@a.test:\(port)/"))
        #expect(throws: HTTPError.self) { try HTTPRequest(url: url).encoded() }
    }

    @Test(arguments: ["http://a.test:/", "http://[::1]/", "http://user:1@a.test/"])
    func urlWithoutPortHasNone(text: String) throws {
        #expect(HTTPRequest(url: try #require(URL(string: text))).port == nil)
    }

    @Test func framingHeadersAreRejected() {
        #expect(throws: HTTPError.self) {
            try HTTPRequest(host: "a.b", headers: ["Transfer-Encoding": "chunked"]).encoded()
        }
        #expect(throws: HTTPError.self) { try HTTPRequest(host: "a.b", headers: ["Host": "evil.test"]).encoded() }
        #expect(throws: Never.self) { try HTTPRequest(host: "a.b", port: 81, headers: ["Host": "A.b:81"]).encoded() }
    }

    @Test func punycodeHostRoundTrips() throws {
        let url = try #require(URL(string: "https://xn--bcher-kva.de/%C3%BC"))
        #expect(HTTPRequest(url: url).url == url)
    }

    @Test func curlCommandSendsBodyAndEmptyHeadersLiterally() {
        let body = DataBody(Data("@/etc/passwd".utf8), contentType: "text/plain")
        var request = HTTPRequest(method: .post, host: "a.b", body: body)
        request.headers["X-Empty"] = ""
        let command = request.curlCommand(includingSecrets: true)
        #expect(command.contains("--data-raw @/etc/passwd"))
        #expect(command.contains("'X-Empty;'"))
        #expect(command.hasSuffix("--url https://a.b/"))
    }

    @Test(arguments: [Data([0xFF, 0xFE]), Data(repeating: UInt8(ascii: "a"), count: 65_537)])
    func curlCommandNamesLengthOfBodyThatIsNotShortText(_ data: Data) {
        let request = HTTPRequest(method: .post, host: "a.b", body: DataBody(data))
        #expect(request.curlCommand(includingSecrets: true).contains("--data-raw '<\(data.count) bytes>'"))
    }

    @Test func encodedRequestHasBodyHeadersAndLength() throws {
        var request = HTTPRequest(method: .post, host: "example.com", body: ["a": "b"] as FormBody)
        request.headers["Accept"] = "text/plain"
        let encoded = try request.encoded()
        #expect(encoded.headers["Content-Length"] == "3")
        #expect(encoded.headers["Content-Type"]?.hasPrefix("application/x-www-form-urlencoded") == true)
        #expect(encoded.headers["Accept"] == "text/plain")
        #expect(encoded.url.absoluteString == "https://example.com/")
        #expect(try HTTPRequest(method: .post, host: "a.b").encoded().headers["Content-Length"] == "0")
        #expect(try HTTPRequest(method: .get, host: "a.b").encoded().headers["Content-Length"] == nil)
    }
}

extension String {
    /// The URL with the slash that an empty path is sent as.
    fileprivate var replacingEmptyPath: String {
        let parts = split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[2].contains("/") else { return self }
        let end = parts[2].firstIndex { "?#".contains($0) } ?? parts[2].endIndex
        return "\(parts[0])//\(parts[2][..<end])/\(parts[2][end...])"
    }
}
