import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct RouteNameTests {
    @Test(
        arguments: [
            ("/users/{id}", "/users/{id}"), ("", ""), ("/a?token=t#f", "/a"), ("/a#f?x", "/a"),
            ("https://example.com/a", "https://example.com/a"), ("https://example.com", "https://example.com"),
            ("https://user:word@example.com/a?b", "https://example.com/a"),
            ("https://user:w@rd@example.com", "https://example.com"), ("https://word@?x", "https://"),
            ("https://example.com/@name", "https://example.com/@name"), ("/find?next=https://u:p@h/", "/find"),
            ("mail@home", "mail@home"),
        ])
    func routeLosesCredentialsQueryAndFragment(_ route: String, _ expected: String) {
        #expect(RouteName.withoutSecrets(route) == expected)
    }
}
