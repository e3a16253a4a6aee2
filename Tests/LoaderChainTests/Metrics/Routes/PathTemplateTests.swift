import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct PathTemplateTests {
    @Test(arguments: [
        ("", "/"), ("/", "/"), ("users", "/users"), ("/v1/users", "/v1/users"), ("/v1/users/", "/v1/users/"),
        ("/v2.1/me", "/v2.1/me"), ("/V10/x", "/V10/x"), ("//a", "//a"),
        ("/users/7", "/users/{id}"), ("/users/0017", "/users/{id}"), ("/7", "/{id}"), ("/users/-5", "/users/-{id}"),
        ("/users/4b3f7d2e-9d7f-4c37-8a4e-2f0e5c0a1b2c/x", "/users/{id}/x"),
        ("/users/4B3F7D2E-9D7F-4C37-8A4E-2F0E5C0A1B2C", "/users/{id}"),
        ("/blobs/da39a3ee5e6b4b0d3255bfef95601890afd80709", "/blobs/{id}"), ("/blobs/deadbeefcafebabe", "/blobs/{id}"),
        ("/c/9fceb02d", "/c/{id}"), ("/c/facade", "/c/facade"),
        ("/watch/dQw4w9WgXcQ", "/watch/{id}"), ("/k/01ARZ3NDEKTSV4RRFFQ69G5FAV", "/k/{id}"),
        ("/t/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U", "/t/{id}"),
        ("/orders/order-12345", "/orders/order-{id}"), ("/inv/INV20240001", "/inv/{id}"),
        ("/days/2024-11-20", "/days/{id}"), ("/map/52.51,13.40", "/map/{id}"), ("/pages/7.json", "/pages/{id}.json"),
        ("/Users(5)/Orders(12)", "/Users({id})/Orders({id})"),
        ("/users/ada%40example.com/posts", "/users/{id}/posts"), ("/users/ada@example.com", "/users/{id}"),
        ("/search/hello%20world", "/search/{id}"), ("/x/token=abc", "/x/{id}"),
        ("/login;jsessionid=A1B2C3/next", "/login/next"),
        ("/getUserProfileInformation", "/getUserProfileInformation"), ("/oauth2/token", "/oauth2/token"),
        ("/i18n/de", "/i18n/de"), ("/sha256sum", "/sha256sum"), ("/terms-and-conditions", "/terms-and-conditions"),
        ("/v1beta2/users", "/v1beta2/users"),
    ])
    func pathBecomesTemplate(path: String, template: String) {
        #expect(PathTemplate.of(path) == template)
    }

    @Test func longPathEndsInStar() {
        let segments = String(repeating: "/a", count: 16)
        #expect(PathTemplate.of(segments) == segments)
        #expect(PathTemplate.of(segments + "/") == segments + "/*")
        #expect(PathTemplate.of(segments + "/b/c/7") == segments + "/*")
        let word = "/" + String(repeating: "abcd-", count: 12)
        #expect(PathTemplate.of(String(repeating: word, count: 20)) == String(repeating: word, count: 16) + "/*")
    }

    @Test func longSegmentBecomesIdentifierAndGrowthHasRoom() {
        #expect(PathTemplate.of("/" + String(repeating: "word-", count: 13)) == "/{id}")
        let ones = String(repeating: "/1", count: 16)
        #expect(PathTemplate.of(ones) == String(repeating: "/{id}", count: 16))
        let mixed = "/" + (0..<15).map { _ in "a-1-" }.joined()
        #expect(PathTemplate.of(mixed) == "/" + (0..<15).map { _ in "a-{id}-" }.joined())
    }

    /// Whatever identifiers a path has, there is one template.
    @Test func identifiersOfEveryKindAreReplaced() {
        let words = ["users", "orders", "v1", "line-items", "reports", "images", "me", "search"]
        takeWalks(seeds: 0..<5_000) { seed in
            var generator = SeededGenerator(seed: seed)
            var path = ""
            var expected = ""
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                if Bool.random(using: &generator) {
                    path += "/" + identifier(&generator)
                    expected += "/{id}"
                } else {
                    let word = words.randomElement(using: &generator) ?? ""
                    path += "/" + word
                    expected += "/" + word
                }
            }
            let template = PathTemplate.of(path)
            if template != expected { return "\(path) became \(template)" }
            return PathTemplate.of(template) == template ? nil : "\(template) has a template of its own"
        }
    }

    /// Nothing that may stand in a path breaks it, and what it makes is a path of bounded length.
    @Test func arbitraryPathHasBoundedTemplate() {
        takeWalks(seeds: 0..<5_000) { seed in
            var generator = SeededGenerator(seed: seed)
            let alphabet = Array("aZ09/-_.~%@=;:()é🙂".unicodeScalars)
            var path = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...300, using: &generator) {
                path.append(alphabet.randomElement(using: &generator) ?? "a")
            }
            let template = PathTemplate.of(String(path))
            guard template.utf8.first == UInt8(ascii: "/") else { return "no slash: \(template)" }
            guard template.utf8.count <= 16 * 257 + 2 else { return "too long: \(template)" }
            guard !template.utf8.contains(where: { "%@=;".utf8.contains($0) || $0 >= 0x80 }) else { return template }
            return nil
        }
    }

    private func identifier(_ generator: inout SeededGenerator) -> String {
        func pick(_ alphabet: String, _ count: Int) -> String {
            String((0..<count).map { _ in alphabet.randomElement(using: &generator) ?? "0" })
        }
        let digits = "0123456789"
        let hex = digits + "abcdef"
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: return "\(UInt64.random(in: 0...(.max), using: &generator))"
        case 1: return [8, 4, 4, 4, 12].map { pick(hex, $0) }.joined(separator: "-")
        case 2: return pick(hex, 20)
        case 3: return pick(digits, 4) + "-" + pick(digits, 2) + "-" + pick(digits, 2)
        default:
            let base62 = digits + "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
            return pick(base62, 16) + "x" + pick(digits, 2) + "X"
        }
    }
}
