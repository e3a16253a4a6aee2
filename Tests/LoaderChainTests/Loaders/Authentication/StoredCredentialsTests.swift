import LoaderChainPlatformFoundation
import LoaderChainTesting
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct StoredCredentialsTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "tokens-\(UUID().uuidString)/deep")
    private var file: URL { folder.appending(path: "token.json") }
    private var store: FileCredentialStore<BearerToken> { FileCredentialStore(file) }

    private func clean() { try? FileManager.default.removeItem(at: folder.deletingLastPathComponent()) }

    private func mode(of path: URL) throws -> Int? {
        let attributes = try FileManager.default.attributesOfItem(atPath: path.path(percentEncoded: false))
        return attributes[.posixPermissions].flatMap { Int("\($0)") }
    }

    @Test func credentialIsSavedToFileReadableOnlyByOwner() async throws {
        defer { clean() }
        #expect(try await store.load() == nil)
        for name in ["first", "second"] {
            let token = BearerToken(accessToken: name, refreshToken: "again", lifetime: .seconds(60))
            try await store.save(token)
            #expect(try await store.load() == token)
        }
        #expect(try mode(of: file) == 0o600 && mode(of: folder) == 0o700)
        try await store.forget()
        try await store.forget()
        #expect(try await store.load() == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false)).isEmpty)
    }

    @Test func damagedFileFailsToLoadUntilForgotten() async throws {
        defer { clean() }
        try await store.save(BearerToken(accessToken: "geheim"))
        try Data(#"{"accessToken":"geheim","#.utf8).write(to: file)
        let error = await #expect(throws: CredentialStoreError.self) { try await store.load() }
        #expect(error?.reason == "The file token.json does not contain a BearerToken; remove it to sign in again")
        try await store.forget()
        #expect(try await store.load() == nil)
    }

    @Test func writeErrorNamesTheFile() async throws {
        defer { clean() }
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
        let error = await #expect(throws: CredentialStoreError.self) {
            try await store.save(BearerToken(accessToken: "geheim"))
        }
        #expect(error?.description.contains(file.path) == true && error?.description.contains("geheim") == false)
        let remote = FileCredentialStore<BearerToken>(try #require(URL(string: "https://test/token")))
        await #expect(throws: CredentialStoreError.self) { try await remote.save(BearerToken(accessToken: "x")) }
    }

    @Test func bearerAuthUsesTokenFromFileStore() async throws {
        defer { clean() }
        try await store.save(BearerToken(accessToken: "kept"))
        let terminal = ScriptedTerminal { _ in .success() }
        let source = RefreshTokenFlow(endpoint: URL(string: "https://test/token")!, client: OAuthClient(id: "shop"))
        let chain = BearerAuth(hosts: ["test"], source: source, store: .file(file)) --> terminal
        try await chain.load(HTTPRequest(host: "test", path: "/a"))
        #expect(terminal.requests.map { $0.headers["Authorization"] } == ["Bearer kept"])
    }
}
