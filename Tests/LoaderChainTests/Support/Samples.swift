import Dispatch

@testable import LoaderChain

extension HTTPRequest {
    /// A request that can be sent as it is.
    static var sample: HTTPRequest { HTTPRequest(method: .get, host: "example.com", path: "/v1/users") }
}

extension Result where Success == HTTPResponse, Failure == HTTPError {
    /// A response to the sample.
    static var sample: HTTPResult { .success(HTTPResponse(request: .sample, status: .ok)) }

    /// The kind of the result in one word.
    var summary: String { error.map { "\($0.code)" } ?? "response" }
}

/// Runs `body` on so many threads that start together, and returns when all have ended.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let gate = DispatchSemaphore(value: 0)
    let done = DispatchGroup()
    for number in 0..<count {
        done.enter()
        Thread.start {
            gate.wait()
            body(number)
            done.leave()
        }
    }
    for _ in 0..<count { gate.signal() }
    done.wait()
}
