import Foundation
import LoaderChainTesting
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct ResponsePagesTests {
    private let first = HTTPRequest(url: URL(string: "https://api.test/users?page=1")!)

    /// Answers with a body of the path and query, and with the link of a table.
    private func server(_ links: [String: String], seen: Locked<[HTTPRequest]> = Locked([])) -> HTTPLoader {
        ClosureLoader("server") { request, _ in
            seen.withLock { $0.append(request) }
            let place = request.path + (request.query.map { "?" + $0 } ?? "")
            var response = HTTPResponse(request: request, status: .ok, body: Data(place.utf8))
            response.headers["Link"] = links[place]
            return response
        }
    }

    private func bodies(_ pages: ResponsePages) async throws -> [String] {
        var bodies: [String] = []
        for try await page in pages { bodies.append(String(decoding: page.body, as: UTF8.self)) }
        return bodies
    }

    private func error(_ pages: ResponsePages) async -> HTTPError? {
        do { _ = try await bodies(pages) } catch { return error as? HTTPError }
        return nil
    }

    @Test func pagesFollowNextLinks() async throws {
        let seen = Locked<[HTTPRequest]>([])
        let chain = server(
            ["/users?page=1": "<?page=2>; rel=next", "/users?page=2": "</a>; rel=prev, </users?page=3>; rel=\"next\""],
            seen: seen)
        var request = first
        request.headers["Accept"] = "application/json"
        #expect(try await bodies(chain.pages(of: request)) == ["/users?page=1", "/users?page=2", "/users?page=3"])
        #expect(seen.withLock { $0.allSatisfy { $0.headers["Accept"] == "application/json" } })
    }

    @Test func pageIsNotLoadedBeforeItIsAwaited() async throws {
        let seen = Locked<[HTTPRequest]>([])
        let pages = server(["/users?page=1": "<?page=2>; rel=next"], seen: seen).pages(of: first)
        #expect(seen.withLock { $0.isEmpty })
        for try await _ in pages { break }
        #expect(seen.withLock { $0.count } == 1)
    }

    @Test func secretsRemovedByRedirectAreNotSentToItsTarget() async throws {
        let seen = Locked<[HTTPRequest]>([])
        let chain = ClosureLoader("redirected") { request, _ in
            let isFirst = seen.withLock { seen in
                seen.append(request)
                return seen.count == 1
            }
            var last = request
            if isFirst {
                last.url = URL(string: "https://other.test/users?page=1")!
                last.headers.remove("Authorization")
                last.headers.remove("Cookie")
            }
            var response = HTTPResponse(request: last, status: .ok)
            if isFirst { response.headers["Link"] = "<https://other.test/users?page=2>; rel=next" }
            return response
        }
        var request = first
        request.headers = ["Authorization": "Bearer secret", "Cookie": "a=b", "Accept": "*/*"]
        #expect(try await bodies(chain.pages(of: request)).count == 2)
        let second = try #require(seen.withLock { $0.last })
        #expect(second.host == "other.test" && second.headers.map(\.name) == ["Accept"])
    }

    @Test func circularLinksFail() async throws {
        let links = [
            "/users?page=1": "<?page=2>; rel=next", "/users?page=2": "<HTTPS://API.test:443/users?page=1>; rel=next",
        ]
        let error = await error(server(links).pages(of: first))
        #expect(error?.code == .invalidResponse && error?.reason?.contains("earlier") == true)
    }

    @Test func pagesBeyondMaximumFail() async throws {
        let endless = ClosureLoader("server") { request, _ in
            var response = HTTPResponse(request: request, status: .ok)
            response.headers["Link"] = "<?page=\((Int(request.query!.dropFirst(5)) ?? 0) + 1)>; rel=next"
            return response
        }
        let pages = endless.pages(of: first, upTo: 7)
        var count = 0
        await #expect(throws: HTTPError.self) { for try await _ in pages { count += 1 } }
        #expect(count == 7)
    }

    @Test func credentialsAreNotSentToAnotherServer() async throws {
        let seen = Locked<[HTTPRequest]>([])
        let chain = server(
            ["/users?page=1": "<https://other.test/b>; rel=next", "/b": "<https://api.test/c>; rel=next"], seen: seen)
        var request = first
        request.headers = ["Authorization": "Bearer secret", "Cookie": "a=b", "X-Api-Key": "k", "Accept": "*/*"]
        request.headers["Host"] = "api.test"
        #expect(try await bodies(chain.pages(of: request)).count == 3)
        let requests = seen.withLock { $0 }
        #expect(requests[0].headers.count == 5)
        #expect(requests[1].headers.map(\.name) == ["Accept"])
        // A server that is not trusted has chosen the address, so they do not come back.
        #expect(requests[2].headers.map(\.name) == ["Accept"])
    }

    @Test func ownCredentialsAreNotSentToAnotherServer() async throws {
        let seen = Locked<[HTTPRequest]>([])
        let links = [
            "/users?page=1": "<https://api.test/a>; rel=next", "/a": "<https://other.test/b>; rel=next",
            "/b": "<https://api.test/c>; rel=next",
        ]
        var request = first
        request.basicCredentials = BasicCredentials(user: "zoe", password: "secret")
        let chain = BasicAuth() --> server(links, seen: seen)
        #expect(try await bodies(chain.pages(of: request)).count == 4)
        #expect(seen.withLock { $0.map { $0.headers.contains("Authorization") } } == [true, true, false, false])
    }

    @Test func userInfoOfLinkIsNotUsed() async throws {
        let seen = Locked<[HTTPRequest]>([])
        let links = [
            "/users?page=1": "<https://eve:chosen@api.test/b>; rel=next", "/b": "<c>; rel=next",
            "/c": "<//eve@other.test/d>; rel=next", "/d": "<https://ann:own@api.test/e>; rel=next",
        ]
        _ = try await bodies(server(links, seen: seen).pages(of: first))
        var request = first
        request.url = URL(string: "https://ann:own@api.test/users?page=1")
        _ = try await bodies(server(links, seen: seen).pages(of: request))
        let own: String? = "ann:own"
        #expect(
            seen.withLock { $0.map(\.userInfo) } == [nil, nil, nil, nil, nil] + [own, own, own, nil, nil])
    }

    /// The caller's request has no host, which a loader below fills in, and the first page came by a redirect.
    @Test func ownCredentialsDoNotFollowRedirectAndLinkOfAnotherServer() async throws {
        var request = HTTPRequest(path: "/users")
        request.basicCredentials = BasicCredentials(user: "ann", password: "secret")
        var filled = request
        filled.host = "api.test"
        let moved = try #require(
            RedirectRule.next(after: .found, location: "https://evil.test/1", from: filled))
        let seen = Locked<[HTTPRequest]>([])
        let terminal = ClosureLoader("redirected") { request, _ in
            let isFirst = seen.withLock { seen in
                seen.append(request)
                return seen.count == 1
            }
            let headers: HTTPHeaders = isFirst ? ["Link": "<https://evil.test/2>; rel=next"] : [:]
            return HTTPResponse(request: isFirst ? moved : request, status: .ok, headers: headers)
        }
        _ = try await (BasicAuth() --> terminal).pages(of: request).collected()
        let sent = seen.withLock { $0 }
        #expect(sent.map(\.host) == [nil, "evil.test"])
        #expect(sent.last?.headers.contains("Authorization") == false)
    }

    @Test(arguments: [
        ("http://api.test/2", HTTPError.Code.insecureConnection), ("ftp://api.test/2", .invalidResponse),
        ("data:text/plain,a", .invalidResponse), ("https:///2", .invalidResponse),
        ("https://api.test:x/2", .invalidResponse), ("http://[::1/2", .invalidResponse),
    ]) func insecureOrInvalidLinkFails(_ link: String, _ code: HTTPError.Code) async throws {
        let error = await error(server(["/users?page=1": "<\(link)>; rel=next"]).pages(of: first))
        #expect(error?.code == code)
    }

    @Test func failedPageThrowsAndEndsPages() async throws {
        let chain = MockLoader().then(.ok, headers: ["Link": "</2>; rel=next"]).then(.notFound)
        var pages = chain.pages(of: first).makeAsyncIterator()
        #expect(try await pages.next()?.status == .ok)
        await #expect(throws: HTTPError.self) { _ = try await pages.next() }
        #expect(try await pages.next() == nil)
    }

    @Test func cancelEndsPages() async {
        let terminal = ScriptedTerminal()
        let pages = terminal.pages(of: first)
        let reader = Task { try await pages.collected() }
        _ = await terminal.next()
        reader.cancel()
        let error = await #expect(throws: HTTPError.self) { try await reader.value }
        #expect(error?.code == .cancelled)
    }

    @Test func cancelledReaderLoadsNoPage() async {
        let terminal = ScriptedTerminal()
        let pages = terminal.pages(of: first)
        let reader = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await pages.collected()
        }
        let error = await #expect(throws: HTTPError.self) { try await reader.value }
        #expect(error?.code == .cancelled && terminal.requests.isEmpty)
    }

    @Test func closureCanMakeNextRequest() async throws {
        let pages = server([:]).pages(of: first) { page in
            let number = Int(page.request.query?.dropFirst(5) ?? "") ?? 0
            guard number < 3 else { return nil }
            var next = page.request
            next.query = "page=\(number + 1)"
            return next
        }
        #expect(try await bodies(pages) == ["/users?page=1", "/users?page=2", "/users?page=3"])
    }
}
