import Dispatch
import LoaderChainPlatformC
import LoaderChainTesting

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

/// Runs `body` on `count` threads that start together, and returns when all have ended and released it.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) throws {
    let gate = DispatchSemaphore(value: 0)
    // A sanitizer needs more stack for the same calls, so a run under one says how much.
    let kilobytes = getenv("TEST_STACK_KILOBYTES").flatMap { Int(String(cString: $0)) }
    let threads = try (0..<count).map { number in
        try SystemThread(stackSize: kilobytes.map { $0 << 10 } ?? SystemThread.usualStackSize) {
            gate.wait()
            body(number)
        }
    }
    for _ in threads { gate.signal() }
    for thread in threads { thread.join() }
}
