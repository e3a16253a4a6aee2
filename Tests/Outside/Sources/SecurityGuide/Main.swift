import Foundation
import LoaderChain
import LoaderChainTesting
import LoaderChainURLSession
import ReportOutbox
import Steps

@main
enum Main {
    static func main() async throws {
        section("What is redacted")
        try redact()
        section("Who receives credentials")
        let terminal = ScriptedTerminal {
            .success(.ok, body: $0.headers.contains("Authorization") ? "with a credential" : "without")
        }
        let store = MemoryCredentialStore(BasicCredentials(user: "zoe", password: "a password"))
        let chain = BasicAuth(hosts: ["*.example.com"], store: store) --> terminal
        show(await outcome(of: HTTPRequest(host: "api.example.com"), from: chain))
        show(await outcome(of: HTTPRequest(host: "example.org"), from: chain))
        show(await outcome(of: HTTPRequest(scheme: "http", host: "api.example.com"), from: chain))
        await chain.reset()
        show(await outcome(of: HTTPRequest(host: "api.example.com"), from: chain))

        section("Redirects")
        try await redirect()

        section("TLS and pinning")
        var tls = TLSOptions()
        let pin = PublicKeyHash(base64: "r/mIkG3eEpVdm+u/ko/cwxzOMo1bk4TyHIlByibiA5E=")
        tls.pins["localhost"] = Set([pin].compactMap(\.self))
        show(tls.reasonNotToSend(HTTPRequest(scheme: "http", host: "localhost")) ?? "")
        tls.authorities = .only(.pem("no certificate"))
        do { try tls.check(for: "A terminal", supporting: [.pins, .onlyOwnAuthorities]) } catch { show("\(error)") }

        section("Cookies")
        let jar = CookieJar()
        let setting = ScriptedTerminal {
            .success(.ok, headers: ["Set-Cookie": "id=1"], body: $0.headers["Cookie"] ?? "none")
        }
        let keeping = KeepCookies(in: jar) --> setting
        for _ in 1...2 { show(await outcome(of: HTTPRequest(host: "a.example.com"), from: keeping)) }
        show(await outcome(of: HTTPRequest(host: "b.example.com"), from: keeping))
        show("\(jar)")
        jar.insert("id=1; Domain=co.uk", for: HTTPRequest(host: "shop.co.uk"))
        show("\(jar.cookies(for: HTTPRequest(host: "other.co.uk")).count)")
        let strict = CookieJar(publicSuffixes: PublicSuffixes(list: "co.uk"))
        show("\(strict.insert("id=1; Domain=co.uk", for: HTTPRequest(host: "shop.co.uk")))")

        section("Injection")
        let broken = HTTPRequest(host: "test", headers: ["X-Name": "a\r\nX-Other: b"])
        show(await outcome(of: broken, from: terminal))
        show(HTTPRequest(host: "test", path: "/a?b").url?.absoluteString ?? "")

        section("Hostile servers")
        try await bear()

        section("Files at rest")
        try await keepFiles()

        section("What never reaches a metric")
        let board = MetricBoard()
        let address = "https://zoe:geheim@api.example.com/users/17?q=geheim#geheim"
        guard let url = URL(string: address) else { return }
        _ = try await (MetricsTap(board) --> terminal).load(HTTPRequest(url: url))
        show("\(board)".prefix { $0 != ":" }.description)

        section("What is not protected")
        show(HTTPRequest(host: "test", path: "/reset/geheim").description)
    }

    static func redact() throws {
        var request = HTTPRequest(
            host: "api.example.com", path: "/v1/search", queryItems: [HTTPQueryItem("q", "my illness")])
        request.headers["Authorization"] = "Bearer a-token"
        show("\(request)")
        show(request.curlCommand(includingSecrets: true))
        let response = HTTPResponse(request: request, status: .ok, body: Data("my illness".utf8))
        show("\(response)")
        show("\(HTTPError(.unknown, request: request, response: response, underlyingError: URLError(.badURL)))")
        var dumped = ""
        dump(request, to: &dumped)
        show("a dump of the request shows its secrets: \(dumped.contains("illness") || dumped.contains("a-token"))")
        show("\(BearerToken(accessToken: "a-token", refreshToken: "another"))")
        show("\(BasicCredentials(user: "zoe", password: "a password"))")
    }

    static func redirect() async throws {
        let server = try LoopbackServer()
        let other = try LoopbackServer()
        let target = other.url("/there").absoluteString
        server.route("/here") { _ in .redirect(to: target) }
        other.route("/there") { request in
            .ok("\(request.headers.contains("Authorization")) \(request.headers["X-Plain"] ?? "nothing")")
        }
        let chain = URLSessionLoader()
        var request = HTTPRequest(
            url: server.url("/here"), headers: ["Authorization": "Bearer t1", "X-Plain": "plain"])
        show(await outcome(of: request, from: chain))
        let port = server.port
        request.redirects = .ask { redirect, next in next.port == port ? next : nil }
        show(await outcome(of: request, from: chain).trimmingCharacters(in: .whitespaces))
        await chain.reset()
        server.stop()
        other.stop()
    }

    static func bear() async throws {
        let server = try LoopbackServer()
        server.route("/endless") { _ in .ok(Data(count: 2_000_000)) }
        let chain = URLSessionLoader(responseSizeLimit: 1_000_000)
        show(await outcome(of: HTTPRequest(url: server.url("/endless")), from: chain))
        await chain.reset()
        server.stop()
    }

    /// Stands in for an encryption, which the guide leaves to the app.
    struct Masking: Encryption {
        func encrypt(_ bytes: Data, authenticating context: Data) throws -> Data { Data(bytes.map { $0 ^ 0x5A }) }
        func decrypt(_ bytes: Data, authenticating context: Data) throws -> Data { Data(bytes.map { $0 ^ 0x5A }) }
    }

    static func keepFiles() async throws {
        try await withFolder { folder in
            let box = folder.appending(path: "box")
            var settings = OutboxSettings()
            settings.seal = OutboxSeal(encryption: Masking())
            let server = ScriptedTerminal()
            let outbox = try ReportOutbox(directory: box, chain: server, settings: settings)
            let request = HTTPRequest(method: .put, host: "d.example.com")
            try outbox.submit(Data("geheim".utf8), identifier: "r1", request: request)
            for secret in [
                HTTPRequest(host: "d.example.com", headers: ["X-API-Key": "k"]),
                HTTPRequest(host: "d.example.com", queryItems: [HTTPQueryItem("token", "t")]),
            ] {
                do throws(OutboxError) { try outbox.submit(Data(), request: secret) } catch { show("\(error.code)") }
            }
            // While the report is being sent, its file is not renamed.
            let held = await server.next()
            var modes: Set<String> = []
            for (path, type, mode, bytes) in try contents(of: box) {
                modes.insert("\(type) \(String(mode, radix: 8))")
                if bytes.range(of: Data("geheim".utf8)) != nil { show("readable: \(path)") }
            }
            for mode in modes.sorted() { show(mode) }
            show("sent: \(String(decoding: try held.request.body.encode().data(upTo: 100), as: UTF8.self))")
            server.answer(held)
            await outbox.close()
        }
    }

    static func contents(of folder: URL) throws -> [(path: String, type: String, mode: Int, bytes: Data)] {
        let manager = FileManager.default
        let below = try manager.subpathsOfDirectory(atPath: folder.path()).map { folder.appending(path: $0).path() }
        return try ([folder.path()] + below).map { path in
            let attributes = try manager.attributesOfItem(atPath: path)
            let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
            let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
            return (path, isFolder ? "folder" : "file", mode, manager.contents(atPath: path) ?? Data())
        }
    }
}
