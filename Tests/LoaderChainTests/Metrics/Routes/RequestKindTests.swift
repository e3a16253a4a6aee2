import Testing

@testable import LoaderChain

/// Which requests are expected to take equally long.
@Suite(.timeLimit(.minutes(10))) struct RequestKindTests {
    private func kind(
        _ method: HTTPMethod = .get, _ host: String = "a", port: Int? = nil, _ path: String = "/users/1",
        route: String? = nil
    ) -> RequestKind {
        var request = HTTPRequest(method: method, host: host, port: port, path: path)
        request.route = route
        return RequestKind(request)
    }

    @Test func identifiersAndQueriesDoNotAffectKind() {
        #expect(kind() == kind(.get, "A", port: 443, "/users/22"))
        #expect(kind(.get, "a", "/users") == kind(.get, "a", "users"))
        #expect(kind(route: "/users/{id}") == kind())
        #expect(kind(route: "users?key=1") == kind(.get, "a", "/x", route: "users?key=2"))
    }

    @Test func serverMethodAndRouteDistinguishKinds() {
        let kinds = [
            kind(), kind(.post), kind(.get, "b"), kind(.get, "a", port: 8_080), kind(.get, "a", "/users"),
            kind(.get, "a", "/v1/users"), kind(.get, "a", "/v2/users"), kind(route: "users"),
        ]
        #expect(Set(kinds).count == kinds.count)
    }
}
