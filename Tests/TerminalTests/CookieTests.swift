import Foundation
import LoaderChain
import LoaderChainTesting
import Testing

@testable import LoaderChainURLSession

/// Cookies in a jar, over a network.
@Suite(.timeLimit(.minutes(10)), .everyTerminal) struct CookieTests {
    @Test func cookiesOfRedirectAreStoredAndSent() async throws {
        let site = try Site()
        site.server.route("/login") { _ in
            var response = LoopbackReply.redirect(to: "/home")
            response.headers["Set-Cookie"] = "id=1; Path=/; Max-Age=100000"
            return response
        }
        site.server.route("/home") { request in .ok(request.headers["Cookie"] ?? "none") }
        let jar = CookieJar()
        let chain = KeepCookies(in: jar) --> site.loader
        let response = try await chain.load(site.request("/login"))
        #expect(String(decoding: response.body, as: UTF8.self) == "id=1")
        // The response contains the cookies of its request, as an earlier cache needs them.
        #expect(response.request.headers["Cookie"] == "id=1")
        #expect(jar.cookies.map(\.name) == ["id"])
        #expect(try await site.load("/home").body == Data("none".utf8))
    }

    @Test func severalSetCookieFieldsStaySeparate() async throws {
        let site = try Site()
        site.server.fallback { _ in
            var response = LoopbackReply.ok()
            for field in ["a=1; Expires=Wed, 21 Oct 2065 07:28:00 GMT; Path=/", "b=x,y", "c=; Secure"] {
                response.headers.append(field, for: "Set-Cookie")
            }
            return response
        }
        let response = try await site.load("/")
        #expect(
            Set(response.headers.values(for: "Set-Cookie")) == [
                "a=1; Expires=Wed, 21 Oct 2065 07:28:00 GMT; Path=/", "b=x,y", "c=; Secure",
            ])
    }

    @Test func cookieIsNotSentToAnotherHost() async throws {
        let site = try Site()
        let jar = CookieJar()
        jar.insert("id=1", for: site.request("/"))
        site.server.route("/away") { _ in .redirect(to: "http://localhost:\(site.server.port)/echo") }
        site.server.route("/echo") { request in .ok(request.headers["Cookie"] ?? "none") }
        let chain = KeepCookies(in: jar) --> site.loader
        #expect(try await chain.load(site.request("/echo")).body == Data("id=1".utf8))
        #expect(try await chain.load(site.request("/away")).body == Data("none".utf8))
        var own = site.request("/echo")
        own.headers["Cookie"] = "id=own"
        #expect(try await chain.load(own).body == Data("id=own".utf8))
    }
}

@Suite(.timeLimit(.minutes(10))) struct JoinedCookiesTests {
    @Test(arguments: [
        ("a=1", ["a=1"]), ("a=1, b=2", ["a=1", "b=2"]), ("a=1,b=2", ["a=1", "b=2"]), ("a=1, 2", ["a=1, 2"]),
        ("a=1; Expires=Wed, 21 Oct 2015 07:28:00 GMT, b=2", ["a=1; Expires=Wed, 21 Oct 2015 07:28:00 GMT", "b=2"]),
        (
            "a=1; Expires=Wed, 21-Oct-2015 07:28:00 GMT; Path=/, b=2",
            ["a=1; Expires=Wed, 21-Oct-2015 07:28:00 GMT; Path=/", "b=2"]
        ),
        ("", [""]), (",", [","]), ("a=1,", ["a=1,"]), ("a=1, =2", ["a=1, =2"]), ("a=1, b c=2", ["a=1, b c=2"]),
        ("a=1,, b=2", ["a=1,", "b=2"]), ("a={\"x\":1,\"y\":2}, b=é", ["a={\"x\":1,\"y\":2}", "b=é"]),
    ])
    func joinedCookiesAreSplitWhereNameFollows(_ joined: String, _ values: [String]) {
        #expect(JoinedCookies.separate(joined) == values)
    }
}
