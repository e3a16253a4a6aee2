import LoaderChain

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A terminal that reads what it is sent, writes it down and answers at once.
final class FakeServer: HTTPLoader, @unchecked Sendable {
    struct Receipt: Hashable {
        let key: String
        let bytes: Data
    }

    enum Answer {
        case status(HTTPStatus, HTTPHeaders = [:])
        case failure(HTTPError.Code)
        /// What a terminal says that finds no bytes to send.
        case unreadable
    }

    private let answer: @Sendable (HTTPRequest, Data) -> Answer
    private let state = Locked<(receipts: [Receipt], requests: [HTTPRequest])>(([], []))

    init(_ answer: @escaping @Sendable (HTTPRequest, Data) -> Answer = { _, _ in .status(.ok) }) {
        self.answer = answer
    }

    /// A server that answers the first requests so, and all further ones with 200.
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
            // It never got here.
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
        case .unreadable: fail(task, .invalidRequest, underlyingError: HTTPBodyError("Too many files are open."))
        }
    }
}
