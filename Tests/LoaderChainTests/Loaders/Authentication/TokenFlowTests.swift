import LoaderChainPlatformFoundation
import LoaderChainTesting
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct TokenFlowTests {
    private let endpoint = HTTPRequest(host: "login.example.com", path: "/token").url ?? URL(fileURLWithPath: "/")
    private let client = OAuthClient(id: "my app", secret: "s:cret/é")

    private func token(
        from source: any TokenSource, replacing old: BearerToken? = nil, _ terminal: ScriptedTerminal
    ) async throws -> BearerToken {
        try await source.token(replacing: old, using: Next(startingWith: terminal))
    }

    private func answering(_ body: String, _ status: HTTPStatus = .ok) -> ScriptedTerminal {
        ScriptedTerminal { _ in .success(status, body: body) }
    }

    @Test func clientCredentialsRequestFollowsTheStandard() async throws {
        let terminal = answering(#"{"access_token":"t","token_type":"bearer","expires_in":3600}"#)
        let flow = ClientCredentialsFlow(endpoint: endpoint, client: client, scope: "read write")
        let token = try await token(from: flow, terminal)
        #expect(token == BearerToken(accessToken: "t", lifetime: .seconds(3600)))
        let request = try #require(terminal.requests.first)
        #expect(request.method == .post)
        #expect(request.url == endpoint)
        #expect(try text(of: request) == "grant_type=client_credentials&scope=read+write")
        #expect(request.body.additionalHeaders["Content-Type"] == "application/x-www-form-urlencoded")
        let expected = Data("my+app:s%3Acret%2F%C3%A9".utf8).base64EncodedString()
        #expect(request.headers["Authorization"] == "Basic \(expected)")
    }

    @Test func clientIDAndSecretCanBeSentInBody() async throws {
        let terminal = answering(#"{"access_token":"t"}"#)
        let inBody = OAuthClient(id: "app", secret: "&", placement: .body)
        _ = try await token(from: ClientCredentialsFlow(endpoint: endpoint, client: inBody), terminal)
        let secretless = RefreshTokenFlow(endpoint: endpoint, client: OAuthClient(id: "app"))
        _ = try await token(from: secretless, replacing: BearerToken(accessToken: "", refreshToken: "r"), terminal)
        let texts = try terminal.requests.map { try text(of: $0) }
        #expect(
            texts == [
                "grant_type=client_credentials&client_id=app&client_secret=%26",
                "grant_type=refresh_token&refresh_token=r&client_id=app",
            ])
        #expect(terminal.requests.allSatisfy { !$0.headers.contains("Authorization") })
    }

    @Test func refreshTokenIsKeptUntilReplaced() async throws {
        let flow = RefreshTokenFlow(endpoint: endpoint, client: client)
        let old = BearerToken(accessToken: "a", refreshToken: "r")
        let kept = try await token(from: flow, replacing: old, answering(#"{"access_token":"b"}"#))
        #expect(kept.refreshToken == "r")
        let rotated = answering(#"{"access_token":"b","refresh_token":"q"}"#)
        #expect(try await token(from: flow, replacing: old, rotated).refreshToken == "q")
    }

    @Test func chainValidationDoesNotApplyToTokenEndpoint() async throws {
        let chain =
            Validate(.success.and(.contentTypes("image/*"))) --> answering(#"{"error":"invalid_grant"}"#, .badRequest)
        let error = await #expect(throws: OAuthError.self) {
            try await RefreshTokenFlow(endpoint: endpoint, client: client).token(
                replacing: BearerToken(accessToken: "a", refreshToken: "r"), using: Next(startingWith: chain))
        }
        #expect(error?.code == .invalidGrant)
    }

    @Test func printLoaderHidesTokenBodies() async throws {
        let log = EventLog()
        let printed = PrintLoader(bodyLimit: 1_000) { log.note($0) } --> answering(#"{"access_token":"t0p"}"#)
        let source = RefreshTokenFlow(endpoint: endpoint, client: client)
        _ = try await source.token(
            replacing: BearerToken(accessToken: "a", refreshToken: "t0p"), using: Next(startingWith: printed))
        #expect(log.events.count == 2 && log.events.allSatisfy { $0.contains("<a body that is hidden>") })
        #expect(!log.events.joined().contains("t0p"))
    }

    @Test func missingRefreshTokenRequiresSignIn() async {
        let terminal = answering("")
        for old in [nil, BearerToken(accessToken: "a")] {
            await #expect(throws: SignInRequiredError.self) {
                try await token(from: RefreshTokenFlow(endpoint: endpoint, client: client), replacing: old, terminal)
            }
        }
        #expect(terminal.requests.isEmpty)
    }

    @Test(
        arguments: [
            ("3600", .seconds(3600)), ("3600.5", .milliseconds(3_600_500)), ("\"3600\"", .seconds(3600)), ("0", nil),
            ("-1", nil), ("null", nil), ("\"soon\"", nil), ("\"nan\"", nil), ("true", nil), ("[1]", nil),
            ("1e30", BearerToken.greatestLifetime), ("99999999999999999999999999", BearerToken.greatestLifetime),
            ("\"inf\"", BearerToken.greatestLifetime),
        ] as [(String, Duration?)])
    func lifetimeIsParsedFromNumbersAndStrings(_ written: String, _ lifetime: Duration?) async throws {
        let terminal = answering(#"{"access_token":"t","expires_in":\#(written)}"#)
        #expect(
            try await token(from: ClientCredentialsFlow(endpoint: endpoint, client: client), terminal).lifetime
                == lifetime)
    }

    @Test func tokenWithOutOfRangeLifetimeIsAccepted() async throws {
        let terminal = answering(#"{"access_token":"t","expires_in":1e999}"#)
        let token = try await token(from: ClientCredentialsFlow(endpoint: endpoint, client: client), terminal)
        #expect(token.accessToken == "t")
    }

    @Test(arguments: [
        (#"{"error":"invalid_grant","error_description":"gone"}"#, 400, OAuthError.Code.invalidGrant),
        (#"{"error":"invalid_client"}"#, 401, .invalidClient),
        (#"{"error":"bad_verification_code"}"#, 200, OAuthError.Code(rawValue: "bad_verification_code")),
        ("<html>", 502, .unreadableAnswer), ("", 200, .unreadableAnswer), ("[]", 200, .unreadableAnswer),
        (#"{"access_token":7}"#, 200, .unreadableAnswer), (#"{"access_token":"t"}"#, 403, .unreadableAnswer),
        (#"{"access_token":"t","token_type":"mac"}"#, 200, .unreadableAnswer),
    ])
    func responseWithoutTokenThrowsOAuthError(_ body: String, _ status: Int, _ code: OAuthError.Code) async {
        let terminal = answering(body, HTTPStatus(status))
        await #expect(throws: OAuthError.self) {
            do {
                _ = try await token(from: ClientCredentialsFlow(endpoint: endpoint, client: client), terminal)
            } catch let error as OAuthError {
                #expect(error.code == code)
                #expect(error.status == HTTPStatus(status))
                throw error
            }
        }
    }

    @Test func errorFromChainPassesThroughWithoutBody() async {
        let leaking = ClosureLoader { request, _ in
            let response = HTTPResponse(request: request, status: .ok, body: Data("secret".utf8))
            throw HTTPError(.invalidResponse, request: request, response: response)
        }
        do {
            let flow = ClientCredentialsFlow(endpoint: endpoint, client: client)
            _ = try await flow.token(replacing: nil, using: Next(startingWith: leaking))
            Issue.record("there was a token")
        } catch {
            let error = error as? HTTPError
            #expect(error?.code == .invalidResponse)
            #expect(error?.response?.body.isEmpty == true)
        }
    }

    @Test func secretsAreNotSentOverPlainHTTP() async throws {
        let plain = try #require(URL(string: "http://login.example.com/token"))
        let terminal = answering(#"{"access_token":"t"}"#)
        do {
            _ = try await token(from: ClientCredentialsFlow(endpoint: plain, client: client), terminal)
            Issue.record("there was a token")
        } catch {
            #expect((error as? HTTPError)?.code == .insecureConnection)
        }
        let local = try #require(URL(string: "http://127.0.0.1:8080/token"))
        _ = try await token(from: ClientCredentialsFlow(endpoint: local, client: client), terminal)
        #expect(terminal.requests.count == 1)
    }

    @Test func rejectedTokenIsRefreshedThroughTheChain() async throws {
        let terminal = ScriptedTerminal { request in
            if request.path == "/token" { return .success(.ok, body: #"{"access_token":"new"}"#) }
            return .success(request.headers["Authorization"] == "Bearer new" ? .ok : .unauthorized)
        }
        let auth = BearerAuth(
            hosts: ["example.com"], source: RefreshTokenFlow(endpoint: endpoint, client: client),
            store: .holding("old"))
        #expect(try await (auth --> terminal).load(.sample).status == .ok)
        #expect(terminal.requests.map(\.path) == ["/v1/users", "/token", "/v1/users"])
        #expect(auth.state == .authorized)
    }

    private func text(of request: HTTPRequest) throws -> String {
        String(decoding: try request.body.encode().data(upTo: 1000), as: UTF8.self)
    }
}
