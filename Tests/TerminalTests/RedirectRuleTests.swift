import Foundation
import LoaderChain
import LoaderChainTesting
import Testing

@testable import LoaderChainURLSession

/// The request that follows a redirect, without a network.
@Suite(.timeLimit(.minutes(10))) struct RedirectRuleTests {
    private func from(_ method: HTTPMethod = .get, _ url: String = "http://a.example/x/y?q=1") -> HTTPRequest {
        HTTPRequest(
            method: method, url: URL(string: url)!,
            headers: [
                "Authorization": "1", "Cookie": "2", "Proxy-Authorization": "3", "X-Api-Key": "4", "X-Session-Id": "5",
                "Accept": "6", "Content-Type": "7", "Content-Encoding": "8", "Idempotency-Key": "9",
            ],
            body: method == .get ? EmptyBody() : DataBody(Data("body".utf8)))
    }

    private func following(_ status: Int, _ location: String?, _ request: HTTPRequest) -> HTTPRequest? {
        RedirectRule.next(after: HTTPStatus(status), location: location, from: request)
    }

    @Test func traceIsNotSentToUnlistedHost() async throws {
        let tracing = TraceContext(hosts: ["a.example", "b.example"], formats: [.w3c, .b3])
        let chain = tracing --> ScriptedTerminal { _ in .success(.ok) }
        let request = try await chain.load(from()).request
        for (location, isListed) in [("/z", true), ("http://b.example/z", true), ("http://c.example/z", false)] {
            let next = try #require(following(302, location, request))
            #expect(next.headers.contains("traceparent") == isListed && next.headers.contains("b3") == isListed)
            // A server that has redirected the request cannot redirect the trace back.
            #expect(following(302, "http://b.example/", next)?.headers.contains("traceparent") == isListed)
        }
    }

    @Test(arguments: [
        ("/z", "http://a.example/z"), ("z", "http://a.example/x/z"), ("?w", "http://a.example/x/y?w"),
        ("//b.example/z", "http://b.example/z"), ("https://b.example:8443/z#f", "https://b.example:8443/z#f"),
        ("../z", "http://a.example/z"), ("HTTP://b.example/", "http://b.example/"),
        ("/p/../z/./w", "http://a.example/z/w"), ("http://u:p@b.example:81/z?q", "http://b.example:81/z?q"),
        ("//u@b.example/%C3%A9", "http://b.example/%C3%A9"),
    ])
    func locationIsResolvedAgainstRequestURL(_ location: String, _ expected: String) {
        #expect(following(302, location, from())?.url?.absoluteString == expected)
    }

    @Test(arguments: [
        "http://", "http:///z", "ftp://b.example/", "file:///etc/passwd", "javascript:alert(1)", "//", "http://[",
        "data:,x",
    ])
    func invalidLocationIsNotFollowed(_ location: String) {
        #expect(following(302, location, from()) == nil)
    }

    @Test(arguments: [200, 300, 304, 305, 306, 309, 399, 404])
    func otherStatusesAreNotFollowed(_ status: Int) { #expect(following(status, "/z", from()) == nil) }

    @Test func redirectWithoutLocationIsNotFollowed() { #expect(following(302, nil, from()) == nil) }

    @Test(arguments: [
        (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (307, "POST", "POST"), (308, "POST", "POST"),
        (301, "PUT", "PUT"), (302, "PUT", "PUT"), (303, "PUT", "GET"), (303, "DELETE", "GET"), (303, "HEAD", "HEAD"),
        (302, "HEAD", "HEAD"), (303, "GET", "GET"),
    ])
    func methodChangesAsInBrowsers(_ status: Int, _ before: String, _ after: String) throws {
        let request = from(HTTPMethod(before))
        let next = try #require(following(status, "/z", request))
        #expect(next.method.rawValue == after)
        let keeps = before == after
        #expect(next.body.isEmpty == (keeps ? request.body.isEmpty : true))
        #expect(next.headers.contains("Content-Type") == keeps)
        #expect(next.headers.contains("Content-Encoding") == keeps)
    }

    @Test(arguments: [
        "http://b.example/", "https://a.example/", "http://a.example:81/", "http://sub.a.example/", "//a.example:8080",
    ])
    func credentialsAreNotSentToAnotherOrigin(_ location: String) throws {
        let next = try #require(following(307, location, from(.post)))
        let names = Set(next.headers.map(\.name))
        #expect(names == ["Accept", "Content-Type", "Content-Encoding", "Idempotency-Key"])
    }

    @Test(arguments: ["/z", "http://A.EXAMPLE/z", "http://a.example:80/z"])
    func credentialsAreKeptForSameOrigin(_ location: String) throws {
        let next = try #require(following(302, location, from()))
        #expect(next.headers["Authorization"] == "1")
        #expect(next.headers["Cookie"] == "2")
    }

    @Test func fragmentIsKeptUnlessReplaced() {
        let request = from(.get, "http://a.example/x#here")
        #expect(following(302, "/z", request)?.fragment == "here")
        #expect(following(302, "/z#there", request)?.fragment == "there")
    }

    @Test func redirectFromHTTPSToHTTPIsDowngrade() {
        let secure = from(.get, "HTTPS://a.example/")
        #expect(RedirectRule.isDowngrade(from: secure, to: from(.get, "http://a.example/")))
        #expect(!RedirectRule.isDowngrade(from: secure, to: from(.get, "https://b.example/")))
        #expect(!RedirectRule.isDowngrade(from: from(), to: secure))
    }
}
