import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct ApplyEnvironmentTests {
    private let environment = ServerEnvironment(
        host: "api.example.com", pathPrefix: "/v1", headers: ["Accept": "application/json", "X-Client": "test"],
        query: [HTTPQueryItem("lang", "de"), HTTPQueryItem("tag", "a b"), HTTPQueryItem("tag", "c")])

    @Test func missingPartsAreFilledIn() throws {
        let sent = try sent(HTTPRequest(path: "people"))
        #expect(sent.url?.absoluteString == "https://api.example.com/v1/people?lang=de&tag=a%20b&tag=c")
        #expect(sent.headers == environment.headers)
    }

    @Test func requestValuesAreKept() throws {
        var request = HTTPRequest(scheme: "http", host: "other.example", port: 81, path: "/people")
        request.headers = ["accept": "text/plain"]
        request.query = "tag=x&%6Cang=fr+CH"
        let sent = try sent(request)
        #expect(sent.url?.absoluteString == "http://other.example:81/people?tag=x&%6Cang=fr+CH")
        #expect(sent.headers == ["accept": "text/plain", "X-Client": "test"])
    }

    @Test(arguments: [
        ("/", "people", "/people"), ("", "people", "/people"), ("/v1", "people", "/v1/people"),
        ("/v1/", "people", "/v1/people"), ("v1", "people", "/v1/people"), ("//", "people", "/people"),
        ("/v1", "/people", "/people"), ("/v1", "", "/v1"), ("/v1/", "", "/v1/"), ("/", "", "/"), ("", "", "/"),
        ("/a b", "c d", "/a%20b/c%20d"),
    ])
    func prefixIsAddedOnlyToRelativePaths(_ prefix: String, _ path: String, _ expected: String) throws {
        let environment = ServerEnvironment(host: "example.com", pathPrefix: prefix)
        #expect(try sent(HTTPRequest(path: path), environment).path == expected)
    }

    @Test func schemeAndPortAreFilledInOnlyWithHost() throws {
        let local = ServerEnvironment(scheme: "http", host: "localhost", port: 8080)
        #expect(try sent(HTTPRequest(path: "a"), local).url?.absoluteString == "http://localhost:8080/a")
        #expect(try sent(HTTPRequest(port: 9, path: "a"), local).url?.absoluteString == "http://localhost:9/a")
        let own = HTTPRequest(host: "example.com", path: "a")
        #expect(try sent(own, local).url?.absoluteString == "https://example.com/a")
        #expect(try sent(HTTPRequest(host: "", path: "/a"), local).url?.absoluteString == "http://localhost:8080/a")
    }

    @Test func requestEnvironmentOverridesLoaderEnvironment() throws {
        var request = HTTPRequest(path: "people")
        #expect(request.serverEnvironment == nil)
        request.serverEnvironment = ServerEnvironment(host: "test.example")
        #expect(try sent(request).url?.absoluteString == "https://test.example/people")
        request.serverEnvironment = ServerEnvironment(host: "")
        request.host = "elsewhere.example"
        #expect(try sent(request).url?.absoluteString == "https://elsewhere.example/people")
    }

    @Test func missingQueryItemIsAppended() throws {
        let environment = ServerEnvironment(host: "example.com", query: [HTTPQueryItem("a", nil)])
        for (query, expected) in [
            (nil, "a"), ("", "a"), ("b=1", "b=1&a"), ("ab", "ab&a"), ("b=a", "b=a&a"), ("b&&a=", "b&&a="),
            ("%61", "%61"),
            ("=a", "=a&a"),
        ] {
            var request = HTTPRequest(path: "/")
            request.query = query
            #expect(try sent(request, environment).query == expected)
        }
    }

    @Test func completeRequestIsNotCopied() {
        var request = HTTPRequest(host: "example.com", path: "/", headers: environment.headers)
        request.queryItems = environment.query
        #expect(environment.filled(request) == nil)
        request.headers["X-Client"] = nil
        #expect(environment.filled(request) != nil)
    }

    @Test func keepsTheContract() async {
        let violations = await ContractCheck(patience: .patient) { _ in
            ApplyEnvironment(environment: ServerEnvironment(host: "example.com", headers: ["X-Client": "test"]))
        }.run()
        #expect(violations.isEmpty, "\(violations)")
    }

    private func sent(_ request: HTTPRequest, _ environment: ServerEnvironment? = nil) throws -> HTTPRequest {
        let terminal = ScriptedTerminal { _ in .success() }
        let chain = ApplyEnvironment(environment: environment ?? self.environment) --> terminal
        chain.load(request: request) { _ in }
        return try #require(terminal.requests.first)
    }
}
