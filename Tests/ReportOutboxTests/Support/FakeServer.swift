import LoaderChain
import LoaderChainPlatformFoundation

/// A terminal that reads each request, records it and answers immediately.
final class FakeServer: HTTPLoader, @unchecked Sendable {
    struct Receipt: Hashable {
        let key: String
        let bytes: Data
    }

    enum Answer {
        case status(HTTPStatus, HTTPHeaders = [:])
        case failure(HTTPError.Code)
        /// The server receives the request, and its answer is lost.
        case cut
        /// The server receives the request, and does not answer until it is cancelled.
        case silence
        /// The error of a terminal that finds no bytes to send.
        case unreadable

        /// The status, if the answer has one.
        var status: HTTPStatus? {
            if case .status(let status, _) = self { status } else { nil }
        }

        /// Whether the server receives the request.
        var isTaken: Bool {
            switch self {
            case .status(let status, _): status.isSuccess
            case .cut, .silence: true
            case .failure, .unreadable: false
            }
        }
    }

    private let answer: @Sendable (HTTPRequest, Data) -> Answer
    private struct State {
        var receipts: [Receipt] = []
        var requests: [HTTPRequest] = []
        /// The unanswered tasks, retained as by a real terminal.
        var silent: [Int: HTTPTask] = [:]
        var lastSilent = 0
    }

    private let state = Locked(State())

    init(_ answer: @escaping @Sendable (HTTPRequest, Data) -> Answer = { _, _ in .status(.ok) }) {
        self.answer = answer
    }

    /// A server with the given answers to the first requests, and 200 for all others.
    convenience init(first answers: [Answer]) {
        let rest = Locked(answers)
        self.init { _, _ in rest.withLock { $0.isEmpty ? .status(.ok) : $0.removeFirst() } }
    }

    var receipts: [Receipt] { state.withLock { $0.receipts } }
    var requests: [HTTPRequest] { state.withLock { $0.requests } }
    var keys: [String] { receipts.map(\.key) }

    override func load(task: HTTPTask) {
        let bytes: Data
        do {
            bytes = try task.request.encoded().content.data(upTo: .max)
        } catch let error as HTTPError {
            task.complete(.failure(error))
            return
        } catch {
            fail(task, .connectionLost, underlyingError: error)
            return
        }
        let answer = answer(task.request, bytes)
        if case .failure(.cannotConnect) = answer {
            // The request never arrived.
        } else {
            let receipt = Receipt(key: task.request.headers["Idempotency-Key"] ?? "", bytes: bytes)
            state.withLock {
                $0.receipts.append(receipt)
                $0.requests.append(task.request)
            }
        }
        switch answer {
        case .status(let status, let headers):
            task.complete(.success(HTTPResponse(request: task.request, status: status, headers: headers)))
        case .failure(let code): fail(task, code)
        case .cut: fail(task, .connectionLost)
        case .silence:
            let number = state.withLock { state in
                state.lastSilent += 1
                state.silent[state.lastSilent] = task
                return state.lastSilent
            }
            task.addCancelHandler { [self] in
                let task = state.withLock { $0.silent.removeValue(forKey: number) }
                task?.fail(.cancelled)
            }
        case .unreadable: fail(task, .invalidRequest, underlyingError: HTTPBodyError("Too many files are open."))
        }
    }
}
