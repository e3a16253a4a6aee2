import Dispatch
import LoaderChainPlatformFoundation
import LoaderChainTesting
import Synchronization
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct KeepCookiesTests {
    private let request = HTTPRequest(url: URL(string: "https://a.test/")!)

    @Test func loaderSendsAndKeepsCookiesIfTerminalDoesNot() async throws {
        let sent = Locked<[String?]>([])
        let terminal = ScriptedTerminal { request in
            sent.withLock { $0.append(request.headers["Cookie"]) }
            return .success(.ok, headers: ["Set-Cookie": "n=\(sent.withLock { $0.count })"])
        }
        let jar = CookieJar()
        let chain = KeepCookies(in: jar) --> terminal
        for _ in 0..<3 { _ = try await chain.load(request) }
        #expect(sent.withLock { $0 } == [nil, "n=1", "n=2"])
        #expect(jar.field(for: request) == "n=3")
    }

    @Test func cookiesOfFailedResponseAreKept() async throws {
        let jar = CookieJar()
        let terminal = ScriptedTerminal { _ in .success(.unauthorized, headers: ["Set-Cookie": "n=1"]) }
        _ = try? await (KeepCookies(in: jar) --> Validate(.success) --> terminal).load(request)
        #expect(jar.field(for: request) == "n=1")
    }

    @Test func existingCookieHeaderIsKept() async throws {
        let jar = CookieJar()
        jar.insert("n=jar", for: request)
        let sent = Locked<[String?]>([])
        let terminal = ScriptedTerminal { request in
            sent.withLock { $0.append(request.addingCookies().headers["Cookie"]) }
            return .success(.ok)
        }
        let chain = KeepCookies(in: jar) --> terminal
        var own = request
        own.headers["Cookie"] = "n=own"
        _ = try await chain.load(own)
        _ = try await chain.load(request)
        // A loader between decides against the jar's.
        let decided = ModifyRequest { request in
            var request = request
            request.headers["Cookie"] = "n=decided"
            return request
        }
        _ = try await (KeepCookies(in: jar) --> decided --> terminal).load(request)
        #expect(sent.withLock { $0 } == ["n=own", "n=jar", "n=decided"])
    }

    @Test func cookiesOfResponseToOwnCookieHeaderAreKept() async throws {
        let jar = CookieJar()
        let terminal = ScriptedTerminal { _ in .success(.ok, headers: ["Set-Cookie": "n=1"]) }
        var own = request
        own.headers["Cookie"] = "n=own"
        _ = try await (KeepCookies(in: jar) --> terminal).load(own)
        #expect(terminal.requests.map { $0.headers["Cookie"] } == ["n=own"])
        #expect(jar.field(for: request) == "n=1")
    }

    /// What a terminal does that follows redirects.
    @Test func eachRedirectSendsCookiesOfItsHost() async throws {
        let jar = CookieJar()
        jar.insert("n=a", for: request)
        jar.insert("n=b", for: HTTPRequest(url: URL(string: "https://b.test/")!))
        let sent = Locked<[String?]>([])
        let terminal = ScriptedTerminal { request in
            let first = request.addingCookies()
            HTTPResponse(request: request, status: .found, headers: ["Set-Cookie": "step=1"]).keepCookies()
            var next = request
            next.path = "/again"
            let second = next.addingCookies()
            // A terminal may go on from the request with its cookies.
            var last = second
            last.path = "/last"
            HTTPResponse(request: second, status: .found, headers: ["Set-Cookie": "n=c"]).keepCookies()
            #expect(last.addingCookies().headers["Cookie"] == "n=c; step=1")
            next.host = "b.test"
            next.headers.remove("Cookie")
            let third = next.addingCookies()
            next.host = "c.test"
            let fourth = next.addingCookies()
            sent.withLock { $0 = [first, second, third, fourth].map { $0.headers["Cookie"] } }
            return .success(.ok, headers: ["Set-Cookie": "last=1"])
        }
        _ = try await (KeepCookies(in: jar) --> terminal).load(request)
        #expect(sent.withLock { $0 } == ["n=a", "n=a; step=1", "n=b", nil])
        // The terminal has asked, so that the loader leaves the last response to it.
        #expect(jar.cookies.map(\.name) == ["n", "n", "step"])
    }

    @Test func requestWithoutTheLoaderIsUnchanged() {
        #expect(request.addingCookies().headers.isEmpty)
        HTTPResponse(request: request, status: .ok, headers: ["Set-Cookie": "n=1"]).keepCookies()
    }

    @Test func resetRemovesCookiesAndIgnoresLateResponses() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "cookies-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let jar = try CookieJar(file: folder.appending(path: "jar"))
        jar.insert("n=1; Max-Age=1000", for: request)
        try jar.save()
        let terminal = HoldingTerminal()
        let chain = KeepCookies(in: jar) --> terminal
        let task = HTTPTask(request: request)
        chain.load(task: task)
        await chain.reset()
        #expect(jar.cookies.isEmpty)
        #expect(try CookieJar(file: folder.appending(path: "jar")).cookies.isEmpty)
        let held = try #require(terminal.held.withLock { $0 })
        held.complete(.success(HTTPResponse(request: held.request, status: .ok, headers: ["Set-Cookie": "n=2"])))
        #expect(jar.cookies.isEmpty)
        jar.insert("n=3", for: request)
        #expect(jar.cookies.count == 1)
    }

    @Test func concurrentRequestsShareOneJar() async throws {
        let jar = CookieJar()
        let terminal = ScriptedTerminal { _ in .success(.ok, headers: ["Set-Cookie": "n=1", "X": "y"]) }
        let chain = KeepCookies(in: jar) --> terminal
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    _ = try await chain.load(HTTPRequest(url: URL(string: "https://h\(number % 7).test/")!))
                    if number.isMultiple(of: 50) { jar.removeAll() }
                }
            }
            try await group.waitForAll()
        }
        #expect(jar.cookies.count <= 7)
    }
}

/// A terminal that keeps the last task.
private final class HoldingTerminal: HTTPLoader, @unchecked Sendable {
    let held = Locked<HTTPTask?>(nil)
    override func load(task: HTTPTask) { held.withLock { $0 = task } }
}
