import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct AuthenticationChallengeTests {
    private func challenges(_ values: String...) -> [AuthenticationChallenge] {
        AuthenticationChallenge.all(in: HTTPHeaders(values.map { HTTPHeaders.Field("www-authenticate", $0) }))
    }

    @Test func standardChallengeFormsAreParsed() {
        #expect(challenges() == [])
        #expect(challenges("Bearer") == [.init(scheme: "Bearer")])
        #expect(
            challenges("Bearer realm=\"a\", error=invalid_token")
                == [.init(scheme: "Bearer", parameters: ["realm": "a", "error": "invalid_token"])])
        #expect(
            challenges("Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\", Basic realm=\"simple\"")
                == [
                    .init(scheme: "Newauth", parameters: ["realm": "apps", "type": "1", "title": "Login to \"apps\""]),
                    .init(scheme: "Basic", parameters: ["realm": "simple"]),
                ])
        #expect(challenges("Negotiate, Basic", "Bearer").map(\.scheme) == ["Negotiate", "Basic", "Bearer"])
        #expect(challenges("Negotiate YWJj==, Bearer realm=a").map(\.scheme) == ["Negotiate", "Bearer"])
        #expect(
            challenges("Bearer Error = \"x\" ,, scope=\"a b\"")
                == [.init(scheme: "Bearer", parameters: ["error": "x", "scope": "a b"])])
    }

    @Test func quotedTextIsNotParsedAsChallenge() {
        let found = challenges("Basic realm=\"a, Bearer error=\\\"insufficient_scope\\\", b\"")
        #expect(found.map(\.scheme) == ["Basic"])
        #expect(found.first?.parameters["realm"] == "a, Bearer error=\"insufficient_scope\", b")
    }

    @Test(arguments: [
        "", ",", "=", "=a", "\"", "a=b", "Bearer \"", "\\", "Bearer =", "é à=b", "Bearer error=\"a\\", " ,\t,",
    ])
    func malformedHeaderGivesAtMostOneChallenge(_ value: String) {
        #expect(challenges(value).count <= 1)
    }

    @Test func randomTextGivesOnlyValidSchemes() {
        let pieces = ["Bearer", " ", ",", "\"", "\\", "=", "error", "\t", "é", "\u{301}", "a"]
        for seed in 0..<2_000 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            let value = (0..<12).map { _ in pieces[Int(generator.next() % UInt64(pieces.count))] }.joined()
            for challenge in challenges(value) where !ASCII.isToken(challenge.scheme) {
                Issue.record("seed \(seed): \(challenge)")
            }
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct AuthorizedHostsTests {
    @Test func namesMatchExactlyAndWildcardsMatchSubdomains() {
        let hosts: AuthorizedHosts = ["api.example.com", "*.Files.example.com"]
        for host in ["api.example.com", "API.Example.com", "a.files.example.com", "a.b.files.example.com"] {
            #expect(hosts.contain(host), "\(host)")
        }
        for host in [
            nil, "", "example.com", "xapi.example.com", "api.example.com.evil.org", "files.example.com",
            ".files.example.com", "evilfiles.example.com", "*.files.example.com.",
        ] {
            #expect(!hosts.contain(host), "\(host ?? "nil")")
        }
        #expect(AuthorizedHosts.all.contain(nil))
        #expect(!([] as AuthorizedHosts).contain("example.com"))
    }

    @Test func plainHTTPIsAllowedOnlyForLocalhostByDefault() {
        var hosts: AuthorizedHosts = .all
        func protects(_ scheme: String, _ host: String) -> Bool {
            hosts.protect(HTTPRequest(scheme: scheme, host: host))
        }
        #expect(protects("HTTPS", "example.com"))
        for host in ["localhost", "app.localhost", "127.0.0.1", "127.1", "::1"] { #expect(protects("http", host)) }
        for host in ["example.com", "127.example.com", "localhost.example.com", "10.0.0.1", ""] {
            #expect(!protects("http", host), "\(host)")
        }
        hosts.allowsPlainHTTP = true
        #expect(protects("http", "example.com"))
    }
}
