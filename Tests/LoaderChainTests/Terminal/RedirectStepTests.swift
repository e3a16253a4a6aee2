import Foundation
import Testing

@testable import LoaderChain

/// What a terminal does with a redirect.
@Suite(.timeLimit(.minutes(10))) struct RedirectStepTests {
    private func step(
        _ policy: RedirectPolicy, from first: String = "https://a/1", to second: String = "https://a/2",
        body: any HTTPBody = EmptyBody(), followed: Int = 0
    ) throws -> RedirectStep {
        let request = HTTPRequest(url: try #require(URL(string: first)))
        var next = HTTPRequest(url: try #require(URL(string: second)))
        next.body = body
        return RedirectStep(policy, HTTPResponse(request: request, status: .found), next: next, followed: followed)
    }

    private func code(_ step: RedirectStep) -> HTTPError.Code? {
        if case .fail(let code, _) = step { code } else { nil }
    }

    private func target(_ step: RedirectStep) -> String? {
        if case .follow(let next) = step { next.path } else { nil }
    }

    private func question(_ step: RedirectStep) throws -> @Sendable () -> HTTPRequest? {
        let ask: (@Sendable () -> HTTPRequest?)? = if case .ask(let ask) = step { ask } else { nil }
        return try #require(ask)
    }

    @Test func refusedRedirectIsDelivered() throws {
        let step = try step(.refuse, to: "http://b/2")
        if case .deliver = step {} else { Issue.record("It was not delivered: \(step)") }
    }

    @Test func redirectsAreFollowedUpToLimit() throws {
        #expect(target(try step(.follow(upTo: 2), followed: 1)) == "/2")
        #expect(code(try step(.follow(upTo: 2), followed: 2)) == .tooManyRedirects)
        #expect(code(try step(.follow(upTo: 0))) == .tooManyRedirects)
    }

    @Test(arguments: [
        ("https://a/1", "http://a/2", true), ("HTTPS://a/1", "http://b/2", true), ("https://a/1", "https://b/2", false),
        ("http://a/1", "https://a/2", false), ("http://a/1", "http://b/2", false),
    ])
    func downgradeToHTTPIsRejectedUnlessAsked(_ first: String, _ second: String, _ isDowngrade: Bool) throws {
        let step = try step(.follow(upTo: 20), from: first, to: second)
        #expect(code(step) == (isDowngrade ? .insecureConnection : nil))
        // The user's closure may want it.
        let asking = try question(try self.step(.ask { $1 }, from: first, to: second))
        #expect(target(RedirectStep(chosen: try #require(asking()), followed: 3)) == "/2")
    }

    @Test func closureMayDeclineAndHasUsualLimit() throws {
        #expect(try question(try step(.ask { _, _ in nil }))()?.path == nil)
        let next = HTTPRequest(url: try #require(URL(string: "https://a/2")))
        #expect(code(RedirectStep(chosen: next, followed: RedirectPolicy.usualLimit)) == .tooManyRedirects)
    }

    @Test func streamBodyIsNotSentTwice() throws {
        let stream = StreamBody { nil }
        #expect(code(try step(.follow(upTo: 20), body: stream)) == .invalidRequest)
        #expect(target(try step(.follow(upTo: 20), body: DataBody(Data("again".utf8)))) == "/2")
    }
}
