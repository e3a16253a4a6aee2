import DurableFilesTesting
import Foundation
import LoaderChain
import LoaderChainTesting
import LoaderChainURLSession
import TestServers
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Redirects over real sockets.
@Suite(.timeLimit(.minutes(10)), .everyTerminal) struct RedirectTests {
    @Test func redirectsAreFollowed() async throws {
        let site = try Site()
        site.server.route("/a") { _ in .redirect(to: "/b") }
        site.server.route("/b") { _ in .redirect(to: "/c", status: .permanentRedirect) }
        site.server.route("/c") { _ in .ok("here") }
        let response = try await site.load("/a")
        #expect(response.body == Data("here".utf8))
        #expect(response.request.path == "/c")
        #expect(response.metrics?.redirects == 2)
    }

    @Test func redirectLoopFails() async throws {
        let site = try Site()
        site.server.route("/a") { _ in .redirect(to: "/a") }
        let error = try #require(await site.failure("/a"))
        #expect(error.code == .tooManyRedirects)
        #expect(error.response?.status == .found)
        #expect(site.server.requests.count == 21)
    }

    @Test func redirectLimitOfRequestApplies() async throws {
        let site = try Site()
        site.server.route("/a") { _ in .redirect(to: "/a") }
        #expect(await site.failure("/a") { $0.redirects = .follow(upTo: 2) }?.code == .tooManyRedirects)
        #expect(site.server.requests.count == 3)
    }

    @Test(arguments: [HTTPStatus.movedPermanently, .found, .seeOther, .temporaryRedirect, .permanentRedirect])
    func refusedRedirectIsDeliveredAsResponse(_ status: HTTPStatus) async throws {
        let site = try Site()
        site.server.route("/a") { _ in
            .text("over there", status: status).header("Location", "/b")
        }
        let response = try await site.load("/a") { $0.redirects = .refuse }
        #expect(response.status == status)
        #expect(response.headers["Location"] == "/b")
        #expect(response.body == Data("over there".utf8))
        #expect(site.server.requests.count == 1)
    }

    @Test func closureDecidesAboutRedirect() async throws {
        let site = try Site()
        site.server.route("/a") { _ in .text("to b", status: .found).header("Location", "/b") }
        site.server.route("/b") { _ in .text("to c", status: .found).header("Location", "/c") }
        let response = try await site.load("/a") {
            $0.redirects = .ask { redirect, next in
                guard redirect.request.path == "/a" else { return nil }
                var next = next
                next.headers["X-Asked"] = "yes"
                return next
            }
        }
        #expect(response.status == .found)
        #expect(response.body == Data("to c".utf8))
        #expect(site.server.requests.last?.headers["X-Asked"] == "yes")
    }

    @Test func credentialsAreNotSentToAnotherOrigin() async throws {
        let site = try Site()
        let other = try LoopbackServer()
        other.fallback { _ in .ok("elsewhere") }
        site.server.route("/a") { [url = other.url("/b").absoluteString] _ in .redirect(to: url) }
        let loader = TestedTerminal.makeLoader(headers: ["X-Auth-Token": "secret"])
        let request = site.request("/a") {
            $0.headers["Authorization"] = "Bearer secret"
            $0.headers["Cookie"] = "id=secret"
            $0.headers["Accept"] = "text/plain"
        }
        let response = try await loader.load(request)
        #expect(response.body == Data("elsewhere".utf8))
        #expect(site.server.requests.first?.headers["X-Auth-Token"] == "secret")
        let raw = try #require(other.requests.first).raw
        #expect(!String(decoding: raw, as: UTF8.self).contains("secret"))
        #expect(other.requests.first?.headers["Accept"] == "text/plain")
    }

    @Test func bodyIsSentAgainAfterRedirect() async throws {
        let site = try Site()
        let folder = try TemporaryDirectory()
        let file = try folder.file("body", pattern(300_000))
        site.server.route("/a") { _ in .redirect(to: "/b", status: .temporaryRedirect) }
        site.server.route("/b") { .ok("\($0.body.count)") }
        for body in [DataBody(pattern(300_000)) as any HTTPBody, FileBody(file)] {
            let response = try await site.load("/a") {
                $0.method = .post
                $0.body = body
            }
            #expect(response.body == Data("300000".utf8))
        }
    }

    @Test func streamIsNotSentAgainAfterRedirect() async throws {
        let site = try Site()
        site.server.route("/a") { _ in .redirect(to: "/b", status: .temporaryRedirect) }
        let pieces = Locked([Data("once".utf8)])
        let error = await site.failure("/a") {
            $0.method = .post
            $0.body = StreamBody { pieces.withLock { $0.popLast() } }
        }
        #expect(error?.code == .invalidRequest)
        #expect(error?.response?.status == .temporaryRedirect)
    }

    #if os(Linux)
        private static let uselessLocations = ["", "http://[", "ftp://127.0.0.1/", "//:0", "http://"]
    #else
        // Whether the sessions of Apple systems fail instead is not known.
        private static let uselessLocations = ["ftp://127.0.0.1/"]
    #endif

    @Test(arguments: uselessLocations)
    func redirectToInvalidLocationIsDeliveredAsResponse(_ location: String) async throws {
        let site = try Site()
        site.server.route("/a") { _ in .status(.found).header("Location", location) }
        let response = try await site.load("/a")
        #expect(response.status == .found)
    }

    @Test func redirectBodyIsNotWrittenToFile() async throws {
        let site = try Site()
        let folder = try TemporaryDirectory()
        site.server.route("/a") { _ in .text("to b", status: .found).header("Location", "/b") }
        site.server.route("/b") { _ in .ok("content") }
        let file = try folder.file("result")
        let response = try await site.load("/a") { $0.delivery = .file(file) }
        #expect(response.file == file)
        #expect(try Data(contentsOf: file) == Data("content".utf8))
    }

    @Test func errorHasURLOfFailedRedirectTarget() async throws {
        let site = try Site()
        let gone = try LoopbackServer()
        let url = gone.url("/b")
        gone.stop()
        site.server.route("/a") { _ in .redirect(to: url.absoluteString) }
        let error = try #require(await site.failure("/a"))
        #expect(error.code == .cannotConnect)
        #expect(error.request.url == url)
    }
}
