import LoaderChainPlatformFoundation
import LoaderChainTesting
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct ResponseCheckTests {
    @Test func responseDecodesItselfAndSaysWhereTheFaultIs() throws {
        struct Item: Decodable, Sendable { var name: String }
        #expect(try response(200, [:], body: #"[{"name":"a"}]"#).decoded(as: [Item].self).map(\.name) == ["a"])
        let error = #expect(throws: HTTPError.self) {
            try response(200, [:], body: #"[{"name":"a"},{}]"#).decoded(as: [Item].self)
        }
        #expect(error?.code == .cannotDecodeResponse && error?.reason?.contains("[1].name is missing") == true)
    }

    @Test func statusCheckAcceptsOnlyItsStatuses() {
        #expect(ResponseCheck.success.accepts(response(204)))
        #expect(!ResponseCheck.success.accepts(response(304)))
        #expect(ResponseCheck.statuses(200, 404).accepts(response(404)))
        #expect(!ResponseCheck.statuses(200, 404).accepts(response(201)))
        #expect(ResponseCheck.nothing.accepts(response(500)))
        let error = ResponseCheck.statuses(200, 404).verdict(on: response(500), by: "V")
        #expect(error?.reason == "Its status should be 200 or 404")
        #expect(ResponseCheck.success.verdict(on: response(500), by: "V")?.reason == "Its status should be 200 to 299")
    }

    @Test(arguments: [
        ("application/json", "application/json", true), ("Application/JSON; charset=utf-8", "application/json", true),
        (" text/html ;a=b", "text/html", true), ("text/html", "application/json", false),
        ("image/png", "image/*", true),
        ("imagery/png", "image/*", false), ("application/json+x", "application/json", false), ("", "text/html", false),
    ])
    func contentTypeCheckAcceptsOnlyItsTypes(_ found: String, _ accepted: String, _ isAccepted: Bool) {
        let check = ResponseCheck.contentTypes("application/never", accepted)
        #expect(check.accepts(response(200, ["Content-Type": found], body: "x")) == isAccepted)
    }

    @Test func contentTypeIsRequiredOnlyWithBody() {
        #expect(!ResponseCheck.contentTypes("text/html").accepts(response(200, body: "x")))
        #expect(ResponseCheck.contentTypes("text/html").accepts(response(204)))
    }

    @Test func contentTypeOfFileBodyIsChecked() {
        let check = ResponseCheck.contentTypes("image/*")
        var stored = response(200, ["Content-Type": "text/html"])
        stored.file = URL(filePath: "/tmp/picture")
        #expect(!check.accepts(stored))
        stored.headers["Content-Type"] = "image/png"
        #expect(check.accepts(stored))
        stored.headers = ["Content-Length": "0"]
        #expect(check.accepts(stored))
        stored.headers = [:]
        #expect(!check.accepts(stored))
        for status in [HTTPStatus.noContent, .resetContent, .notModified] {
            stored.status = status
            #expect(check.accepts(stored))
        }
        var head = HTTPResponse(request: HTTPRequest(method: .head, host: "example.com"), status: .ok)
        head.file = URL(filePath: "/tmp/picture")
        #expect(check.accepts(head))
    }

    @Test func customCheckReportsThrownError() {
        struct Mishap: Error {}
        let mishap = ResponseCheck.custom { _ in throw Mishap() }.verdict(on: response(200), by: "V")
        #expect(mishap?.code == .invalidResponse)
        #expect(mishap?.underlyingError is Mishap)
        let own = ResponseCheck.custom { throw HTTPError(.timedOut, request: $0.request) }
        #expect(own.verdict(on: response(200), by: "V")?.code == .timedOut)
        #expect(own.verdict(on: response(200), by: "V")?.response?.status == .ok)
        #expect(own.verdict(on: response(200), by: "V")?.loader == "V")
        #expect(ResponseCheck.custom { _ in }.accepts(response(500)))
    }

    @Test func firstFailedCheckIsReported() {
        let check = ResponseCheck.success.and(.contentTypes("text/html")).and(.decoding([Int].self))
        #expect(check.verdict(on: response(500), by: "V")?.code == .invalidResponse)
        let html: HTTPHeaders = ["Content-Type": "text/html"]
        #expect(check.verdict(on: response(200, html, body: "<p>"), by: "V")?.code == .cannotDecodeResponse)
        #expect(check.accepts(response(200, html, body: "[1]")))
    }

    @Test func checksWithSameDemandsAreEqual() {
        let decoder = JSONDecoder()
        let closure = ResponseCheck.custom { _ in }
        let all: [ResponseCheck] = [
            .nothing, .success, .statuses(200), .contentTypes("a/b"), .contentTypes("a/b", "c/d"), closure,
            .custom { _ in }, .decoding(Int.self), .decoding(String.self), .decoding(Int.self, decoder: decoder),
            .success.and(closure),
        ]
        #expect(Set(all).count == all.count)
        let again: [ResponseCheck] = [
            .statuses(in: 200...299), .contentTypes("a/b"), closure, .decoding(Int.self),
            .decoding(Int.self, decoder: decoder), .success.and(closure),
        ]
        #expect(Set(again).isSubset(of: Set(all)))
    }

    private func response(_ status: HTTPStatus, _ headers: HTTPHeaders = [:], body: String = "") -> HTTPResponse {
        HTTPResponse(request: .sample, status: status, headers: headers, body: Data(body.utf8))
    }
}

extension ResponseCheck {
    fileprivate func accepts(_ response: HTTPResponse) -> Bool { verdict(on: response, by: "V") == nil }
}
