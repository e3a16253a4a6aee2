import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct HTTPHeadersTests {
    @Test func namesAreCaseInsensitiveAndKeepSpelling() {
        let headers: HTTPHeaders = ["X-Request-ID": "1"]
        #expect(headers["x-request-id"] == "1")
        #expect(headers.contains("X-REQUEST-id"))
        #expect(headers[0].name == "X-Request-ID")
        #expect(headers["X-Request"] == nil)
        #expect(!headers.contains("X-Request-I@"))
    }

    @Test func dictionaryIsOrderedByNames() {
        let values = ["B": "2", "C": "3", "A": "1"]
        #expect(HTTPHeaders(values).map(\.description) == ["A: 1", "B: 2", "C: 3"])
    }

    @Test func repeatedValuesAreJoinedExceptSetCookie() {
        let headers: HTTPHeaders = [
            "Accept": "a", "Cookie": "x=1", "Set-Cookie": "p=1", "accept": "b", "COOKIE": "y=2", "set-cookie": "q=2",
        ]
        #expect(headers["Accept"] == "a, b")
        #expect(headers["Cookie"] == "x=1; y=2")
        #expect(headers["Set-Cookie"] == "p=1")
        #expect(headers.values(for: "set-cookie") == ["p=1", "q=2"])
        #expect(headers.values(for: "none") == [])
    }

    @Test func listIsSplitAcrossAllFields() {
        let headers: HTTPHeaders = ["A": " one,\ttwo ,, ", "B": "x", "a": "Three,four five", "C": " , "]
        #expect(headers.list(for: "a") == ["one", "two", "Three", "four five"])
        #expect(headers.list(for: "C") == [] && headers.list(for: "none") == [])
        #expect(headers.list(for: "A", contains: "tHREE"))
        #expect(!headers.list(for: "A", contains: "four"))
    }

    @Test func settingReplacesAllValuesAtFirstPosition() {
        var headers: HTTPHeaders = ["A": "1", "B": "2", "a": "3", "C": "4", "A": "5", "D": "6"]
        headers["a"] = "7"
        #expect(headers.map(\.description) == ["a: 7", "B: 2", "C: 4", "D: 6"])
        headers["E"] = "8"
        #expect(headers.last?.description == "E: 8")
        headers["B"] = nil
        headers.remove("d")
        headers.remove("none")
        #expect(headers.map(\.description) == ["a: 7", "C: 4", "E: 8"])
    }

    @Test func fillingAddsOnlyMissingNames() {
        var headers: HTTPHeaders = ["A": "1"]
        headers.merge(filling: ["a": "2", "B": "3", "b": "4"])
        #expect(headers == ["A": "1", "B": "3", "B": "4"])
        var empty = HTTPHeaders()
        empty.merge(filling: headers)
        #expect(empty == headers)
    }

    @Test func equalityIgnoresTheOrderOfNamesButNotOfValues() {
        let headers: HTTPHeaders = ["A": "1", "B": "2", "a": "3"]
        #expect(headers == ["b": "2", "A": "1", "A": "3"])
        #expect(headers != ["A": "3", "B": "2", "A": "1"])
        #expect(headers != ["A": "1", "B": "2", "B": "3"])
        #expect(headers != ["A": "1", "B": "2"])
        #expect(HTTPHeaders() == [:])
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func equalityComparesValuesByName(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        func headers() -> HTTPHeaders {
            let count = Int.random(in: 0...4, using: &generator)
            return HTTPHeaders(
                (0..<count).map { _ in
                    .init(
                        ["a", "A", "b"].randomElement(using: &generator) ?? "",
                        "\(Int.random(in: 0...1, using: &generator))")
                })
        }
        var equal = 0
        for _ in 0..<200 {
            let (left, right) = (headers(), headers())
            let same = ["a", "b"].allSatisfy { left.values(for: $0) == right.values(for: $0) }
            #expect((left == right) == same, "seed \(seed)")
            if same {
                equal += 1
                #expect(left.hashValue == right.hashValue, "seed \(seed)")
            }
        }
        #expect(equal > 0, "seed \(seed)")
    }

    @Test(arguments: [
        "Authorization", "proxy-authorization", "COOKIE", "Set-Cookie", "X-Auth-Token", "X-Client-Secret", "X-API-Key",
        "xapikey", "Password-Hint", "X-Signature-V4",
    ])
    func secretHeadersAreRedacted(name: String) {
        let headers: HTTPHeaders = ["Accept": "a", name: "hunter2"]
        var dumped = ""
        dump(headers, to: &dumped)
        for shown in ["\(headers)", "\(headers[1])", String(reflecting: headers), "\(Array(headers))", dumped] {
            #expect(!shown.contains("hunter2"))
        }
        #expect(headers.redacted[name] == "<redacted>")
        #expect(headers.redacted["Accept"] == "a")
        #expect(headers.description == "Accept: a\n\(name): <redacted>")
    }

    /// A header, its value, and the value that is shown.
    static let addresses: [(String, String, String)] = [
        ("Location", "https://a.test/b?Signature=s3cret&s3cret", "https://a.test/b?Signature=redacted&redacted"),
        ("Location", "/b?czNjcmV0MQ==", "/b?redacted"), ("Location", "/b?czNjcmV0MTI=", "/b?redacted"),
        ("Location", "/b?q=s3cret=", "/b?q=redacted"),
        ("location", "/b?code=s3cret, \"s3cret\">#s3cret", "/b?code=redacted"),
        ("Location", "https://app.test/b#access_token=s3cret", "https://app.test/b"),
        ("Content-Location", "https://u:s3cret@a.test:80/b@c", "https://redacted@a.test:80/b@c"),
        ("REFERER", "//s3cret@u:s3cret@a.test", "//redacted@a.test"),
        ("Refresh", "5; url=https://s3cret@a.test/?a=s3cret", "5; url=https://redacted@a.test/?a=redacted"),
        (
            "Link", "<https://a.test/?page=2&key=s3cret>; rel=\"next\", </b?s3cret>; rel=last",
            "<https://a.test/?page=redacted&key=redacted>; rel=\"next\", </b?redacted>; rel=last"
        ),
        ("Link", "<https://u:s3cret@a.test/é>; title=\"b\"", "<https://redacted@a.test/é>; title=\"b\""),
        ("Link", "</a?b=s3cret", "</a?b=redacted"),
        ("Location", "https://a.test/b/c;d=e", "https://a.test/b/c;d=e"), ("Location", "", ""),
        ("X-Location", "https://u@a.test/?b=c#d", "https://u@a.test/?b=c#d"),
    ]

    @Test(arguments: addresses)
    func addressesInHeadersAreShownWithoutSecrets(_ name: String, _ value: String, _ shown: String) {
        let headers: HTTPHeaders = [name: value]
        #expect(headers.redacted[name] == shown)
        #expect(headers.description == "\(name): \(shown)")
        #expect(headers[name] == value)
    }

    /// The words that the security guide names, in any case, and its exceptions.
    @Test func everyWordOfTheGuideMakesNameSecret() {
        for word in [
            "auth", "cookie", "credential", "honeycomb-team", "jwt", "key", "passw", "secret", "session", "signature",
            "token",
        ] {
            for name in ["x-\(word)", "X-\(word.uppercased())-2"] { #expect(HTTPHeaders.isSecret(name), "\(name)") }
        }
        for name in ["WWW-Authenticate", "proxy-authenticate", "Idempotency-Key"] {
            #expect(!HTTPHeaders.isSecret(name), "\(name)")
        }
    }

    @Test func ordinaryHeadersAreNotSecret() {
        for name in ["Accept", "Content-Type", "X-Toke", "ETag", ""] { #expect(!HTTPHeaders.isSecret(name)) }
    }

    @Test func descriptionHasOneLinePerField() {
        let headers: HTTPHeaders = ["A": "1\r\nB: 2", "C": "\u{202E}é"]
        #expect(headers.description == "A: 1\\r\\nB: 2\nC: \\u{202E}é")
    }

    @Test func invalidNameIsTruncatedInDescription() {
        let headers: HTTPHeaders = ["Authorization: Bearer hunter2": "", "A\r\nB": "1", "": "2"]
        var dumped = ""
        dump(headers, to: &dumped)
        for shown in ["\(headers)", dumped, "\(HTTPRequest(host: "example.com", headers: headers))"] {
            #expect(!shown.contains("hunter2") && !shown.contains("\r"), "\(shown)")
        }
        #expect(headers[0].description == "Authorization…: <redacted>")
        #expect(headers[1].description == "A…: 1" && headers[2].description == ": 2")
    }
}

@Suite(.timeLimit(.minutes(10))) struct HTTPHeadersValidationTests {
    @Test func tokenNamesWithPrintableValuesAreValid() throws {
        try HTTPHeaders().validate()
        try (["!#$%&'*+-.^_`|~09azAZ": "\tfür “alles”, außer Umbrüchen ", "X": ""] as HTTPHeaders).validate()
    }

    @Test func nameMayOnlyContainTokenBytes() {
        let allowed = Set("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
        for byte in 0..<128 as Range<UInt8> {
            let headers: HTTPHeaders = ["X\(Character(Unicode.Scalar(byte)))": "v"]
            #expect(((try? headers.validate()) != nil) == allowed.contains(byte), "byte \(byte)")
        }
        #expect(throws: HTTPHeaders.Invalid.self) { try (["Ü": "v"] as HTTPHeaders).validate() }
        #expect(throws: HTTPHeaders.Invalid.self) { try (["": "v"] as HTTPHeaders).validate() }
    }

    @Test func valueMayNotContainControlBytesExceptTab() {
        for byte in 0..<128 as Range<UInt8> {
            let headers: HTTPHeaders = ["X": "v\(Character(Unicode.Scalar(byte)))v"]
            let isAllowed = byte == 9 || byte >= 32 && byte != 127
            #expect(((try? headers.validate()) != nil) == isAllowed, "byte \(byte)")
        }
        #expect(throws: HTTPHeaders.Invalid.self) { try (["X": "a\r\nb"] as HTTPHeaders).validate() }
    }

    @Test func errorNamesPositionWithoutSecrets() throws {
        let value = try #require(throws: HTTPHeaders.Invalid.self) {
            try (["A": "b", "Authorization": "hunter2\n"] as HTTPHeaders).validate()
        }
        #expect(
            "\(value)" == """
                The value of the header “Authorization” has a line feed (0x0A) at byte 7, where the header would break; \
                take it out, or encode the value.
                """)
        let name = try #require(throws: HTTPHeaders.Invalid.self) {
            try (["Authorization: hunter2": ""] as HTTPHeaders).validate()
        }
        #expect(name.index == 0 && name.name == "Authorization" && name.reason.contains("at byte 13"))
        for shown in ["\(value)", "\(name)", String(reflecting: value), String(reflecting: name)] {
            #expect(!shown.contains("hunter2"))
        }
    }
}
