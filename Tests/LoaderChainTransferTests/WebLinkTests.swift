import Foundation
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct WebLinkTests {
    private func response(_ links: String..., from url: String = "https://api.test/v1/users?page=1") -> HTTPResponse {
        var response = HTTPResponse(request: HTTPRequest(url: URL(string: url)!), status: .ok)
        for link in links { response.headers.append(link, for: "Link") }
        return response
    }

    @Test func linksHaveTargetsRelationsAndParameters() {
        let link = #"<https://api.test/?a=1,2;3>; rel="next last"; title="a \"b\", c; d>"; Type=text/html"#
        #expect(
            response(link).links == [
                WebLink(
                    target: "https://api.test/?a=1,2;3", relations: ["next", "last"],
                    parameters: ["title": #"a "b", c; d>"#, "type": "text/html"])
            ])
    }

    @Test(arguments: [
        (#"</2>; rel="next""#, ["next"]), ("</2>; rel=next", ["next"]), ("</2>;rel = NEXT ", ["next"]),
        ("</2> ; rel=\"prev\"; rel=\"next\"", ["prev"]), ("</2>", []), ("</2>; rel", []),
        ("</2>;;; rel=next;", ["next"]),
        ("</2>; rel=\"a\tb  c\"", ["a", "b", "c"]), ("</2>; title=\"un", []), (", ,</2>; rel=next, ,", ["next"]),
    ]) func singleLinkIsParsedInEveryForm(_ value: String, _ relations: [String]) {
        let links = response(value).links
        #expect(links.count == 1 && links.first?.target == "/2" && links.first?.relations == relations)
    }

    @Test func linksAreParsedAcrossHeaders() {
        let links = response("</1>; rel=first, </2>; rel=next", "</9>; rel=last").links
        #expect(links.map(\.target) == ["/1", "/2", "/9"])
        #expect(links.flatMap(\.relations) == ["first", "next", "last"])
    }

    @Test(arguments: [
        "", ",", "next", "<,<\",<", "</2", "rel=next", "\"</2>; rel=next\"", "x </2>; rel=next, y", "<", "\"", ";;,,",
    ])
    func malformedLinkIsSkipped(_ value: String) {
        #expect(response(value).links.isEmpty)
        let followed = response(
            value.contains("\"") || value.contains("<") && !value.contains(">") ? "" : value + ", </3>; rel=next")
        if !followed.headers.values(for: "Link")[0].isEmpty { #expect(followed.links.map(\.target) == ["/3"]) }
    }

    @Test(arguments: [
        ("<https://other.test/a>", "https://other.test/a"), ("<//other.test/a>", "https://other.test/a"),
        ("</v2/users>", "https://api.test/v2/users"), ("<?page=2>", "https://api.test/v1/users?page=2"),
        ("<next>", "https://api.test/v1/next"), ("<../a>", "https://api.test/a"),
        ("< ?page=2 >", "https://api.test/v1/users?page=2"),
    ]) func targetsAreResolvedAgainstResponseURL(_ target: String, _ address: String) {
        #expect(response(target + "; rel=next").link("next")?.absoluteString == address)
    }

    /// In quadratic time, this would take minutes.
    @Test func linksThatNeverEndTakeLinearTime() {
        let value = String(repeating: "<,", count: 500_000)
        #expect(response(value).links.isEmpty)
    }

    @Test func linkWithOtherAnchorIsIgnored() {
        #expect(response("</2>; rel=next; anchor=\"/other\"").link("next") == nil)
        #expect(response("</2>; rel=next; anchor=\"?page=1\"").link("next")?.path() == "/2")
        #expect(response("</2>; rel=next; anchor=\"/other\", </3>; rel=next").link("Next")?.path() == "/3")
    }

    @Test func randomTextDoesNotTrapParser() {
        var random = SeededGenerator(seed: 1)
        let alphabet = Array("<>\"\\;,= \trelnxt/é")
        for _ in 0..<2_000 {
            let count = Int.random(in: 0...40, using: &random)
            let text = String((0..<count).map { _ in alphabet.randomElement(using: &random)! })
            #expect(response(text).links.count <= count)
        }
    }
}
