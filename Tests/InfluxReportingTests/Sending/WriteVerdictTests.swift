import Foundation
import LoaderChain
import Testing

@testable import InfluxReporting

@Suite(.timeLimit(.minutes(10))) struct WriteVerdictTests {
    private let now = Date(timeIntervalSince1970: 1_700_000_000)

    private func verdict(_ status: HTTPStatus, _ body: String = "", headers: HTTPHeaders = [:]) -> WriteVerdict {
        WriteVerdict(.success(response(status, body, headers: headers)), now: now)
    }

    private func failure(_ status: HTTPStatus, _ body: String = "", headers: HTTPHeaders = [:]) -> DeliveryFailure? {
        if case .failed(let failure) = verdict(status, body, headers: headers) { failure } else { nil }
    }

    @Test(arguments: [(204, ""), (200, ""), (202, ""), (200, "ok"), (200, "{}"), (201, #"{"result":"ok"}"#)])
    func successWithoutErrorIsDelivered(_ status: Int, _ body: String) {
        #expect(verdict(HTTPStatus(rawValue: status), body) == .delivered)
    }

    @Test func htmlPageIsUnexpectedAnswer() {
        let page = "<!DOCTYPE html><title>Sign in</title>"
        guard case .unexpectedAnswer(200, let reason)? = failure(.ok, page) else { return fail(failure(.ok, page)) }
        #expect(!reason.contains("<"))
        #expect(failure(.ok, "welcome", headers: ["Content-Type": "text/html; charset=utf-8"]) != nil)
        #expect(failure(.ok, "  \n <html>") != nil)
    }

    @Test(arguments: [400, 406, 422]) func gatewayRefusalRejectsNoLine(_ status: Int) {
        let status = HTTPStatus(rawValue: status)
        for (body, type) in [("<html><h1>Bad Request</h1>", nil), ("Bad Request", "text/html")] {
            let found = failure(status, body, headers: type.map { ["Content-Type": $0] } ?? [:])
            #expect(found == .unexpectedAnswer(status, reason: "an HTML page"))
        }
        #expect(
            failure(status, #"{"error":"database is required"}"#) == .refused(status, reason: "database is required"))
        // A quoted line can contain any words.
        guard case .rejected = verdict(status, #"{"error":"unable to parse 'database is required': no field"}"#) else {
            return fail(verdict(status))
        }
    }

    @Test func successWithErrorIsUnexpectedAnswer() {
        let found = failure(.ok, #"{"error":"unauthorized access"}"#)
        #expect(found == .unexpectedAnswer(.ok, reason: "unauthorized access"))
    }

    @Test func writeTurnedIntoGetIsUnexpectedAnswer() {
        var answer = response(.noContent)
        answer.request.method = .get
        let verdict = WriteVerdict(.success(answer), now: now)
        guard case .failed(.unexpectedAnswer) = verdict else { return fail(verdict) }
    }

    @Test(arguments: [301, 302, 303, 307, 308, 304, 100]) func unfollowedRedirectIsUnexpectedAnswer(_ status: Int) {
        let found = failure(HTTPStatus(rawValue: status), headers: ["Location": "https://login.example.com/?token=x"])
        guard case .unexpectedAnswer(let shown, let reason)? = found else { return fail(found) }
        #expect(shown?.rawValue == status)
        #expect(!reason.contains("token"))
    }

    @Test(arguments: [408, 409, 421, 423, 425, 429, 500, 502, 503, 504, 507, 599])
    func busyStatusReadsRetryAfter(_ status: Int) {
        let status = HTTPStatus(rawValue: status)
        guard case .busy(nil, _)? = failure(status) else { return fail(failure(status)) }
        guard case .busy(.seconds(7)?, _)? = failure(status, headers: ["Retry-After": "7"]) else {
            return fail(status)
        }
        let date = "Tue, 14 Nov 2023 22:15:20 GMT"
        guard case .busy(.seconds(120)?, _)? = failure(status, headers: ["Retry-After": date]) else {
            return fail(failure(status, headers: ["Retry-After": date]))
        }
        guard case .busy(nil, _)? = failure(status, headers: ["Retry-After": "soon"]) else { return fail(status) }
    }

    @Test(arguments: [401, 402, 403, 404, 405, 407, 410, 411, 451, 499, 501, 505])
    func permanentFailureStatusIsRefused(_ status: Int) {
        let found = failure(HTTPStatus(rawValue: status), #"{"error":"authorization failed"}"#)
        #expect(found == .refused(HTTPStatus(rawValue: status), reason: "authorization failed"))
    }

    @Test func missingRetentionPolicyIsRefused() {
        let found = failure(.internalServerError, #"{"error":"retention policy not found: weekly"}"#)
        #expect(found == .refused(.internalServerError, reason: "retention policy not found: weekly"))
    }

    @Test func contentTooLargeHasItsOwnVerdict() {
        guard case .tooLarge(let complaint) = verdict(.contentTooLarge, #"{"error":"Request Entity Too Large"}"#) else {
            return fail(verdict(.contentTooLarge))
        }
        #expect(complaint.reason == "Request Entity Too Large")
    }

    @Test(arguments: [0, 99, 600, 999, -5]) func invalidStatusIsUnexpectedAnswer(_ status: Int) {
        guard case .unexpectedAnswer? = failure(HTTPStatus(rawValue: status)) else {
            return fail(verdict(HTTPStatus(rawValue: status)))
        }
    }

    // MARK: Errors

    private func verdict(_ code: HTTPError.Code, _ answer: HTTPResponse? = nil) -> WriteVerdict {
        let request = answer?.request ?? response(.ok).request
        return WriteVerdict(.failure(HTTPError(code, request: request, response: answer)), now: now)
    }

    @Test func everyErrorCodeHasVerdict() {
        for code: HTTPError.Code in [.cancelled, .resetInProgress] {
            #expect(verdict(code) == .failed(.interrupted))
            #expect(verdict(code, response(.noContent)) == .failed(.interrupted))
        }
        for code: HTTPError.Code in [
            .cannotConnect, .connectionLost, .timedOut, .insecureConnection, .abandoned, .unknown,
        ] {
            guard case .failed(.offline) = verdict(code) else { return fail(verdict(code)) }
        }
        for code: HTTPError.Code in [.circuitOpen, .rateLimited, .queueFull, .queueTimedOut, .shed] {
            guard case .failed(.busy(nil, _)) = verdict(code) else { return fail(verdict(code)) }
        }
        for code: HTTPError.Code in [.invalidRequest, .authenticationRequired, .authenticationFailed] {
            guard case .failed(.refused(nil, _)) = verdict(code) else { return fail(verdict(code)) }
        }
        for code: HTTPError.Code in [.cannotDecodeResponse, .responseTooLarge, .tooManyRedirects] {
            guard case .failed(.unexpectedAnswer) = verdict(code) else { return fail(verdict(code)) }
        }
        guard case .failed(.offline) = verdict(.invalidResponse) else { return fail(verdict(.invalidResponse)) }
        let refused = verdict(.invalidResponse, response(.ok))
        guard case .failed(.unexpectedAnswer(.ok, _)) = refused else { return fail(refused) }
    }

    @Test func errorWithRefusingResponseIsRefused() {
        #expect(
            verdict(.invalidResponse, response(.unauthorized, #"{"error":"no"}"#))
                == .failed(.refused(.unauthorized, reason: "no")))
        // A successful response that a loader rejects, or that is incomplete, is not a success.
        guard case .failed(.offline) = verdict(.connectionLost, response(.ok)) else {
            return fail(verdict(.connectionLost, response(.ok)))
        }
    }

    private func fail(_ found: some Any, _ location: SourceLocation = #_sourceLocation) {
        Issue.record("\(found)", sourceLocation: location)
    }
}
