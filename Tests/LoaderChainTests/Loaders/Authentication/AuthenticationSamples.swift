import LoaderChain

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

// The samples of the documentation, which only have to compile.

private struct Keychain: Sendable {
    func read(_ name: String) async throws -> BearerToken? { nil }
    func write(_ token: BearerToken, as name: String) async throws {}
    func remove(_ name: String) async throws {}
}

private struct TokenKeychain: CredentialStore {
    let keychain: Keychain
    func load() async throws -> BearerToken? { try await keychain.read("token") }
    func save(_ token: BearerToken) async throws { try await keychain.write(token, as: "token") }
    func forget() async throws { try await keychain.remove("token") }
}

private func signInWithBrowser() async throws -> BearerToken { BearerToken(accessToken: "t") }

private struct BrowserSignIn: TokenSource {
    let refresh: RefreshTokenFlow

    func token(replacing old: BearerToken?, using chain: RestOfChain) async throws -> BearerToken {
        do {
            return try await refresh.token(replacing: old, using: chain)
        } catch let error where error is SignInRequired || (error as? OAuthError)?.code == .invalidGrant {
            return try await signInWithBrowser()
        }
    }
}

private func showSheet(wasWrong: Bool) async -> BasicCredentials? { nil }

private struct SignInSheet: BasicCredentialsProvider {
    func credentials(replacing rejected: BasicCredentials?) async throws -> BasicCredentials? {
        await showSheet(wasWrong: rejected != nil)
    }
}

private struct FixedCredentials: BasicCredentialsProvider {
    let fixed: BasicCredentials
    func credentials(replacing rejected: BasicCredentials?) async throws -> BasicCredentials? {
        // Asked a second time, it has no others.
        rejected == nil ? fixed : nil
    }
}

private func chains(
    resetGuard: HTTPLoader, environment: HTTPLoader, retry: HTTPLoader, throttle: HTTPLoader, terminal: HTTPLoader,
    tokenURL: URL, secret: String
) -> [HTTPLoader] {
    let bearer =
        resetGuard --> environment --> retry
        --> BearerAuth(
            hosts: ["api.example.com"], source: RefreshTokenFlow(endpoint: tokenURL, client: OAuthClient(id: "my-app")),
            store: TokenKeychain(keychain: Keychain()))
        --> throttle --> terminal
    let basic =
        resetGuard --> environment --> retry
        --> BasicAuth(hosts: ["api.example.com"], provider: SignInSheet())
        --> throttle --> terminal
    let hosts: AuthorizedHosts = ["api.example.com", "*.files.example.com"]
    let source = ClientCredentialsFlow(endpoint: tokenURL, client: OAuthClient(id: "reports", secret: secret))
    return [bearer, basic, BearerAuth(hosts: hosts, source: source)]
}
