import LoaderChain
import LoaderChainTesting
import Testing

@testable import ReportOutbox

/// A server receives the number of the attempt, and the date of submission.
@Suite(.timeLimit(.minutes(10))) struct AttemptHeaderTests {
    @Test func eachAttemptHasItsNumberAndTheDateOfSubmission() throws {
        let test = try TestOutbox(FakeServer(first: [.status(.serviceUnavailable), .failure(.timedOut)]))
        let submitted = HTTPDate.text(test.timers.date)
        try test.submit("a")
        for _ in 0..<2 { test.advance(.seconds(4_000)) }
        #expect(test.server.requests.map { $0.headers["Report-Attempt"] } == ["1", "2", "3"])
        #expect(test.server.requests.map { $0.headers["Report-Submitted"] } == [submitted, submitted, submitted])
    }

    @Test func attemptNumberIsUnchangedAfterUncountedAttempt() throws {
        let answers: [FakeServer.Answer] = [
            .status(.serviceUnavailable, ["Retry-After": "10"]), .failure(.circuitOpen), .status(.serviceUnavailable),
        ]
        let test = try TestOutbox(FakeServer(first: answers))
        try test.submit("a")
        for _ in 0..<3 { test.advance(.seconds(4_000)) }
        #expect(test.server.requests.map { $0.headers["Report-Attempt"] } == ["1", "1", "1", "2"])
    }

    @Test func attemptHeadersCanBeRenamedOrOmitted() throws {
        let test = try TestOutbox {
            $0.attemptHeader = "X-Attempt"
            $0.submittedHeader = nil
        }
        try test.submit("a")
        #expect(test.server.requests.map { $0.headers["X-Attempt"] } == ["1"])
        #expect(test.server.requests.allSatisfy { !$0.headers.contains("Report-Submitted") })
    }
}
