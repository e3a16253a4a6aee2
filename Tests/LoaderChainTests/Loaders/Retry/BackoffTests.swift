import LoaderChainTesting
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct BackoffTests {
    private func failure(_ code: HTTPError.Code, _ status: HTTPStatus? = nil, attempts: Int = 1) -> HTTPResult {
        let response = status.map { HTTPResponse(request: .sample, status: $0) }
        return HTTPResult.failure(HTTPError(code, request: .sample, response: response)).numbered(attempts)
    }

    private func response(_ status: HTTPStatus) -> HTTPResult {
        .success(HTTPResponse(request: .sample, status: status))
    }

    @Test func transientFailuresAreRecognized() {
        for status in 100..<600 {
            let isTransient = [408, 429, 500, 502, 503, 504].contains(status)
            #expect(response(HTTPStatus(status)).isTransientFailure == isTransient, "\(status)")
            #expect(failure(.invalidResponse, HTTPStatus(status)).isTransientFailure == isTransient, "\(status)")
            // As of a loader of the program that holds requests back after such a response.
            #expect(failure(.rateLimited, HTTPStatus(status)).isTransientFailure == isTransient, "\(status)")
            #expect(!failure(.cancelled, HTTPStatus(status)).isTransientFailure)
            #expect(!failure(.resetInProgress, HTTPStatus(status)).isTransientFailure)
        }
        for code: HTTPError.Code in [.timedOut, .cannotConnect, .connectionLost] {
            #expect(failure(code).isTransientFailure, "\(code)")
        }
        let final: [HTTPError.Code] = [
            .invalidRequest, .cancelled, .insecureConnection, .invalidResponse, .cannotDecodeResponse,
            .resetInProgress, .abandoned, .unknown, .circuitOpen, .rateLimited,
        ]
        for code in final { #expect(!failure(code).isTransientFailure, "\(code)") }
    }

    @Test func maximumNumberOfAttemptsIncludesTheFirst() {
        let three = Backoff.constant(delay: 2, maximumNumberOfAttempts: 3)
        #expect((1...4).map { three.retryDelay(for: failure(.timedOut, attempts: $0)) } == [2, 2, nil, nil])
        let one = Backoff.immediately(maximumNumberOfAttempts: 2)
        #expect((1...2).map { one.retryDelay(for: failure(.timedOut, attempts: $0)) } == [0, nil])
        #expect(Backoff.never.retryDelay(for: failure(.timedOut)) == nil)
        #expect(three.retryDelay(for: response(.notFound)) == nil)
    }

    @Test func exponentialDelayIsRandomUpToDoublingBound() throws {
        let backoff = Backoff.exponential(
            delay: 0.5, maximumNumberOfAttempts: .max, maximumDelay: 3, random: RandomSource(seed: 1))
        for (attempts, bound) in [(1, 0.5), (2, 1.0), (3, 2.0), (4, 3.0), (5, 3.0), (5_000_000, 3.0)] {
            let delays = try (0..<2_000).map { _ in
                try #require(backoff.retryDelay(for: failure(.timedOut, attempts: attempts)))
            }
            #expect(delays.allSatisfy { (0..<bound).contains($0) })
            // Full jitter: the whole of the range comes up, evenly.
            #expect(try #require(delays.min()) < 0.01 * bound)
            #expect(try #require(delays.max()) > 0.99 * bound)
            #expect(abs(delays.reduce(0, +) / 2_000 - bound / 2) < 0.03 * bound)
        }
        let none = Backoff.exponential(delay: 0, maximumNumberOfAttempts: .max)
        #expect(none.retryDelay(for: failure(.timedOut, attempts: 1_000_000)) == 0)
    }

    @Test func throttlingHasDelaysOfItsOwn() throws {
        let backoff = Backoff.exponential(maximumNumberOfAttempts: 9, random: RandomSource(seed: 1))
        let busy = HTTPResponse(request: .sample, status: 503, headers: ["retry-after-ms": "5"])
        let throttled: [HTTPResult] = [response(429), failure(.invalidResponse, 429), .success(busy)]
        let others: [HTTPResult] = [response(503), response(500), failure(.timedOut), failure(.connectionLost)]
        for (results, bounds) in [(throttled, [1.0, 2, 4]), (others, [0.05, 0.1, 0.2])] {
            for result in results {
                #expect(result.isThrottled == (bounds[0] == 1) && result.isTransientFailure)
                for (attempts, bound) in zip(1..., bounds) {
                    let delays = try (0..<500).map { _ in
                        try #require(backoff.retryDelay(for: result.numbered(attempts)))
                    }
                    #expect(
                        try #require(delays.max()) < bound && #require(delays.max()) > 0.95 * bound,
                        "\(result), \(attempts)")
                }
            }
        }
        #expect(!failure(.cancelled, 429).isThrottled && !response(.ok).isThrottled)
        // A delay of the caller's own is the least for both.
        let slow = Backoff.exponential(delay: 10, random: RandomSource(seed: 1))
        let delays = (0..<500).compactMap { _ in slow.retryDelay(for: response(429)) }
        #expect(delays.count == 500 && delays.contains { $0 > 9 })
    }

    @Test func sameSeedGivesSameDelays() {
        func delays() -> [Double?] {
            let backoff = Backoff.exponential(delay: 1, maximumNumberOfAttempts: 9, random: RandomSource(seed: 42))
            return (1...8).map { backoff.retryDelay(for: failure(.timedOut, attempts: $0)) }
        }
        #expect(delays() == delays())
    }

    @Test func attemptsOfResultsStartAtOne() {
        #expect(response(.ok).attempts == 1 && failure(.timedOut).attempts == 1)
        #expect(response(.ok).numbered(3).attempts == 3 && failure(.timedOut).numbered(3).error?.attempts == 3)
        var odd = HTTPResponse(request: .sample, status: 200)
        odd.attempts = -1
        #expect(odd.attempts == 0)
        odd.status = HTTPStatus(.max)
        #expect(odd.status.rawValue == .max)
    }
}
