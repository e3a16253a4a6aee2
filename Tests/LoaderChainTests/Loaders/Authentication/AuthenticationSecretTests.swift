import LoaderChainPlatformFoundation
import LoaderChainTesting
import Testing

@testable import LoaderChain

/// Descriptions and dumps of values that hold a secret do not contain it.
@Suite(.timeLimit(.minutes(10))) struct AuthenticationSecretTests {
    private static let secrets = ["Geheimnis", "Passwort", "Auffrischung", "zugriff"]
    private let credentials = BasicCredentials(user: "Geheimnis", password: "Passwort")
    /// A clock that stands still, so that the token is good for the whole test: one that had expired would be waited for.
    private let timers = ManualTimers()
    private let token = BearerToken(
        accessToken: "zugriff", refreshToken: "Auffrischung", lifetime: .seconds(1_000_000),
        obtained: ManualTimers.defaultDate)
    private let client = OAuthClient(id: "app", secret: "Passwort")

    /// Complains about each secret that a text made of `value` holds, in any of the forms in which they are sent.
    private func expectNoSecret(in value: some Any, _ location: SourceLocation = #_sourceLocation) throws {
        var dumped = ""
        dump(value, to: &dumped)
        let forms =
            try Self.secrets + [
                "Basic \(Data("app:Passwort".utf8).base64EncodedString())".dropFirst(6).description,
                credentials.headerValue().dropFirst(6).description,
            ]
        for text in ["\(value)", String(reflecting: value), dumped] {
            for form in forms {
                #expect(!text.contains(form), "\(type(of: value)): \(text)", sourceLocation: location)
            }
        }
    }

    @Test func valueDescriptionsContainNoSecrets() throws {
        let endpoint = try #require(URL(string: "https://example.com/token"))
        try expectNoSecret(in: credentials)
        try expectNoSecret(in: token)
        try expectNoSecret(in: client)
        try expectNoSecret(in: [token])
        try expectNoSecret(in: Optional(credentials) as Any)
        try expectNoSecret(in: ClientCredentialsFlow(endpoint: endpoint, client: client))
        try expectNoSecret(in: RefreshTokenFlow(endpoint: endpoint, client: client))
        try expectNoSecret(in: MemoryCredentialStore(token))
        try expectNoSecret(in: MemoryCredentialStore("Passwort"))
        for code in ["Passwort", "a passwort", "zugriff1"].map({ OAuthError.Code(rawValue: $0 + "Passwort") }) {
            try expectNoSecret(in: code)
            try expectNoSecret(in: OAuthError(code, status: .badRequest, message: "Passwort"))
        }
    }

    @Test func credentialsAreEncodedWithTheirSecrets() throws {
        let coded = try JSONDecoder().decode(BearerToken.self, from: JSONEncoder().encode(token))
        #expect(coded == token)
        #expect(coded.refreshToken == "Auffrischung")
        #expect(try JSONDecoder().decode(BasicCredentials.self, from: JSONEncoder().encode(credentials)) == credentials)
    }

    @Test func requestAndErrorDescriptionsContainNoSecrets() async throws {
        var request = HTTPRequest.sample
        request.basicCredentials = credentials
        try expectNoSecret(in: request)
        let endpoint = try #require(URL(string: "https://example.com/token"))
        for placement in [OAuthClient.SecretPlacement.header, .body] {
            let client = OAuthClient(id: "app", secret: "Passwort", placement: placement)
            let sources: [any TokenSource] = [
                RefreshTokenFlow(endpoint: endpoint, client: client),
                ClientCredentialsFlow(endpoint: endpoint, client: client),
            ]
            for source in sources {
                let answers: [ScriptedTerminal.Answer] = [
                    .failure(.cannotConnect),
                    .success(.badRequest, body: #"{"error":"Passwort","error_description":"no Auffrischung"}"#),
                    .success(.ok, body: #"{"access":"zugriff"}"#), .success(.ok, body: "Passwort"),
                ]
                for answer in answers {
                    let terminal = ScriptedTerminal { _ in answer }
                    var expired = token
                    expired.obtained = .distantPast
                    let auth = BearerAuth(
                        hosts: .all, source: source, store: MemoryCredentialStore(expired), timers: timers)
                    do {
                        _ = try await (auth --> terminal).load(.sample)
                        Issue.record("there was a response")
                    } catch {
                        try expectNoSecret(in: error)
                        try expectNoSecret(in: error.underlyingError as Any)
                        #expect(error.reason != nil)
                    }
                    #expect(!terminal.requests.isEmpty)
                    for request in terminal.requests { try expectNoSecret(in: request) }
                    try expectNoSecret(in: auth)
                }
            }
        }
    }

    @Test func loaderAndResponseDescriptionsContainNoSecrets() async throws {
        let terminal = ScriptedTerminal { _ in .success() }
        let basic = BasicAuth(hosts: .all, store: MemoryCredentialStore(credentials)) --> terminal
        let bearer =
            BearerAuth(hosts: .all, source: ScriptedAnswers(), store: MemoryCredentialStore(token), timers: timers)
            --> terminal
        for chain in [basic, bearer] {
            let response = try await chain.load(.sample)
            #expect(response.request.headers.contains("Authorization"))
            try expectNoSecret(in: response)
            try expectNoSecret(in: chain)
        }
    }
}
