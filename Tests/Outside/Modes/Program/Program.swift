import Foundation
import LoaderChain

/// Counts the requests that pass, with a lock of its own.
final class Counter: HTTPLoader, @unchecked Sendable {
    private let lock = NSLock()
    private var count = 0

    override func load(task: HTTPTask) {
        lock.withLock { count += 1 }
        super.load(task: task)
    }

    var passed: Int { lock.withLock { count } }
}

/// Responds with the path of the request.
final class Echo: AsyncLoader, @unchecked Sendable {
    override func load(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        HTTPResponse(request: request, status: .ok, body: Data("\"\(request.path)\"".utf8))
    }
}

/// An option that the program declares.
enum Label: HTTPRequestOption {
    static let defaultOptionValue = "none"
}

extension HTTPRequest {
    var label: String {
        get { self[option: Label.self] }
        set { self[option: Label.self] = newValue }
    }
}

@main struct Program {
    static func main() async throws {
        let counter = Counter()
        let chain = counter --> Retry(.immediately(maximumNumberOfAttempts: 2)) --> Echo()
        var request = HTTPRequest(host: "example.com", path: "/greeting")
        request.label = "first"
        let answer = try await chain.load(request, as: String.self)
        precondition(answer == "/greeting" && counter.passed == 1 && request.label == "first")
        print("A chain works here.")
    }
}
