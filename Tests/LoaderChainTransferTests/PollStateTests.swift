import Foundation
import LoaderChainTesting
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct PollStateTests {
    private let now = Date(timeIntervalSince1970: 784_111_777)

    private func state(_ change: (inout ResponseChanges.Settings) -> Void = { _ in }) -> PollState {
        var settings = ResponseChanges.Settings()
        change(&settings)
        return PollState(settings)
    }

    private func response(_ status: HTTPStatus = .ok, _ headers: HTTPHeaders = [:], body: String = "") -> HTTPResponse {
        HTTPResponse(
            request: HTTPRequest(host: "a.test"), status: status, headers: headers, body: Data(body.utf8))
    }

    private func conditions(_ state: PollState) -> [String] {
        var request = HTTPRequest()
        state.prepare(&request)
        return request.headers.map { "\($0.name): \($0.value)" }
    }

    @Test func entityTagDistinguishesVersionsAndIsSentUnchanged() {
        var state = state()
        #expect(conditions(state).isEmpty)
        #expect(state.take(response(.ok, ["ETag": "W/\"1\""])) == .changed)
        #expect(conditions(state) == ["If-None-Match: W/\"1\""])
        #expect(state.take(response(.notModified)) == .same)
        #expect(state.take(response(.ok, ["ETag": "\"1\""], body: "other bytes")) == .same, "weak or not")
        #expect(state.take(response(.ok, ["ETag": "\"2\""])) == .changed)
        #expect(conditions(state) == ["If-None-Match: \"2\""])
    }

    /// A request with it would never be sent.
    @Test(arguments: ["a\u{1}b", String(repeating: "a", count: 101)])
    func dateThatCannotBeSentBackIsIgnored(date: String) {
        var state = state()
        #expect(state.take(response(.ok, ["Last-Modified": date])) == .changed)
        #expect(conditions(state).isEmpty)
    }

    @Test func bodiesInChunksAreComparedByLastModified() {
        func chunks(_ headers: HTTPHeaders) -> HTTPResponse {
            var response = response(.ok, headers)
            response.chunks = ResponseChunks(next: { nil })
            return response
        }
        var state = state()
        let headers: HTTPHeaders = ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"]
        #expect(state.take(chunks(headers)) == .changed)
        #expect(state.take(chunks(headers)) == .same)
        #expect(state.take(chunks(["Last-Modified": "Sun, 06 Nov 1994 08:49:38 GMT"])) == .changed)
        #expect(state.take(chunks([:])) == .changed)
        #expect(state.take(chunks([:])) == .changed)
    }

    @Test func bodiesWithoutEntityTagAreCompared() {
        var state = state()
        let headers: HTTPHeaders = ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"]
        #expect(state.take(response(.ok, headers, body: "a")) == .changed)
        #expect(conditions(state) == ["If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"])
        #expect(state.take(response(.ok, headers, body: "a")) == .same)
        #expect(state.take(response(.ok, headers, body: "b")) == .changed, "in the same second")
        #expect(state.take(response(body: "b")) == .same)
        #expect(conditions(state).isEmpty)
    }

    @Test func knownEntityTagIsSentWithFirstRequest() {
        var state = state { $0.entityTag = "\"7\"" }
        #expect(conditions(state) == ["If-None-Match: \"7\""])
        #expect(state.take(response(.ok, ["ETag": "\"7\""])) == .same)
    }

    @Test(arguments: [429, 408, 409, 421, 423, 425, 500, 502, 503, 504] as [HTTPStatus])
    func temporaryFailureStatusIsBusy(_ status: HTTPStatus) {
        var state = state { $0.maximumFailures = 1 }
        #expect(state.take(response(status)) == .busy && !state.hasFailed)
        #expect(state.take(response(status)) == .busy && state.hasFailed)
        #expect(state.take(response()) == .changed && !state.hasFailed)
    }

    @Test(arguments: [204, 201] as [HTTPStatus]) func everySuccessStatusIsChanged(_ status: HTTPStatus) {
        var state = state()
        #expect(state.take(response(status)) == .changed)
    }

    @Test(arguments: [301, 400, 401, 403, 404, 410, 501, 505] as [HTTPStatus])
    func permanentFailureStatusIsUnusable(_ status: HTTPStatus) {
        var state = state()
        #expect(state.take(response(status)) == .unusable)
    }

    @Test func delayIsIntervalPlusRandomJitter() {
        let state = state { $0.jitter = 0.5 }
        #expect(state.delay(after: response(), roll: 0, now: now) == .seconds(30))
        #expect(state.delay(after: response(), roll: 0.5, now: now) == .milliseconds(37_500))
    }

    @Test func failuresDoubleTheDelayUpToAMaximum() {
        var state = state { $0.maximumDelay = .seconds(100) }
        var bounds: [Duration] = []
        for _ in 0..<4 {
            state.takeFailure()
            bounds.append(state.delay(after: nil, roll: 1, now: now))
            #expect(state.delay(after: nil, roll: 0, now: now) >= .seconds(30))
        }
        #expect(bounds == [.seconds(60), .seconds(100), .seconds(100), .seconds(100)])
    }

    @Test func retryAfterLengthensDelayUpToMaximum() {
        var state = state { $0.maximumDelay = .seconds(100) }
        func delay(_ value: String) -> Duration {
            state.delay(after: response(.ok, ["Retry-After": value]), roll: 0, now: now)
        }
        #expect(delay("70") == .seconds(70) && delay("5") == .seconds(30) && delay("900") == .seconds(100))
        #expect(delay("Sun, 06 Nov 1994 08:50:27 GMT") == .seconds(50))
        _ = state.take(response(.serviceUnavailable))
        #expect(delay("70") == .seconds(70))
    }

    @Test func delayFollowsMaxAgeIfEnabled() {
        func delay(_ headers: HTTPHeaders, follows: Bool = true) -> Duration {
            state { $0.followsMaxAge = follows }.delay(after: response(.ok, headers), roll: 0, now: now)
        }
        #expect(delay(["Cache-Control": "public, max-age=90"]) == .seconds(90))
        #expect(delay(["Cache-Control": "max-age=90", "Age": "50"]) == .seconds(40))
        #expect(delay(["Cache-Control": "max-age=90"], follows: false) == .seconds(30))
        #expect(delay(["Cache-Control": "max-age=90, no-cache"]) == .seconds(30))
        #expect(delay(["Cache-Control": "max-age=-1"]) == .seconds(30))
        #expect(delay(["Cache-Control": "max-age=99999999999999999999"]) == .seconds(30))
        #expect(delay(["Cache-Control": "max-age=99999999"]) == .seconds(3_600))
    }

    @Test func invalidSettingsAreClamped() {
        let state = state {
            ($0.interval, $0.maximumDelay, $0.jitter) = (.seconds(-1), .seconds(Int64.max), .infinity)
        }
        #expect((.milliseconds(1)...(.milliseconds(2))).contains(state.delay(after: nil, roll: 1, now: now)))
    }
}
