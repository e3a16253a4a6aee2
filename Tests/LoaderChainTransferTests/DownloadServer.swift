import Foundation
import LoaderChainTesting

@testable import LoaderChain

/// A server of one file, which does everything that servers and networks have been seen to do to downloads.
final class DownloadServer: HTTPLoader, @unchecked Sendable {
    /// A version of the file.
    struct File {
        var bytes: [UInt8]
        var headers: HTTPHeaders
    }

    /// What happens to one response.
    enum Fault: CaseIterable {
        case none, refused, unavailable, ignoredRange, wrongStart, wrongTotal, wrongTag, unsatisfiable, short, endsEarly
        case tooLong, multipart, coded, cut, noTotal
    }

    private struct State {
        var file: File
        var requests: [HTTPRequest] = []
        var faults: [Fault] = []
        var served: [[UInt8]] = []
    }

    private let state: Locked<State>
    private let random: RandomSource

    init(_ bytes: [UInt8], headers: HTTPHeaders = ["ETag": "\"1\""], random: RandomSource = RandomSource(seed: 1)) {
        state = Locked(State(file: File(bytes: bytes, headers: headers), served: [bytes]))
        self.random = random
    }

    var requests: [HTTPRequest] { state.withLock { $0.requests } }
    /// The content of all versions that there were.
    var served: [[UInt8]] { state.withLock { $0.served } }

    /// Replaces the file.
    func put(_ bytes: [UInt8], headers: HTTPHeaders) {
        state.withLock {
            $0.file = File(bytes: bytes, headers: headers)
            $0.served.append(bytes)
        }
    }

    /// Lets these happen to the next responses.
    func meet(_ faults: Fault...) { state.withLock { $0.faults += faults } }

    /// Lets nothing happen any more.
    func forget() { state.withLock { $0.faults = [] } }

    override func load(task: HTTPTask) {
        let request = task.request
        let (file, fault) = state.withLock { state in
            state.requests.append(request)
            return (state.file, state.faults.isEmpty ? .none : state.faults.removeFirst())
        }
        if fault == .refused { return _ = fail(task, .cannotConnect) }
        task.complete(.success(response(to: request, file, fault)))
    }

    private func response(to request: HTTPRequest, _ file: File, _ fault: Fault) -> HTTPResponse {
        if fault == .unavailable {
            return HTTPResponse(request: request, status: 503, body: Data("later".utf8))
        }
        var (response, body) = answer(to: request, file, ignoringRange: fault == .ignoredRange)
        let total = file.bytes.count
        if response.status == .partialContent, let range = ContentRange(response.headers) {
            switch fault {
            case .wrongStart where range.first > 0:
                response.headers["Content-Range"] = "bytes \(range.first - 1)-\(range.last)/\(total)"
                body = file.bytes[Int(range.first - 1)...]
            case .wrongTotal: response.headers["Content-Range"] = "bytes \(range.first)-\(range.last)/\(total + 1)"
            case .wrongTag: response.headers["ETag"] = "\"another\""
            case .unsatisfiable:
                response = HTTPResponse(request: request, status: 416, headers: ["Content-Range": "bytes */\(total)"])
                body = []
            case .short:
                body = body.prefix(max(1, body.count / 2))
                let last = Int(range.first) + body.count - 1
                response.headers["Content-Range"] = "bytes \(range.first)-\(last)/\(total)"
            case .multipart:
                response.headers["Content-Range"] = nil
                response.headers["Content-Type"] = "multipart/byteranges; boundary=x"
            case .coded: response.headers["Content-Encoding"] = "gzip"
            case .noTotal: response.headers["Content-Range"] = "bytes \(range.first)-\(range.last)/*"
            default: break
            }
        }
        if fault != .noTotal || response.status == .partialContent {
            if response.status.isSuccess { response.headers["Content-Length"] = "\(body.count)" }
        }
        if fault == .coded, response.status == .partialContent { body = ArraySlice(body.reversed()) }
        var error: HTTPError?
        switch fault {
        case .tooLong: body += [1, 2, 3]
        // Without an announced length, only the terminal can tell that the body has ended early.
        case .endsEarly where response.headers.contains("Content-Length"): body = body.prefix(part(of: body.count))
        case .cut, .noTotal, .endsEarly:
            body = body.prefix(part(of: body.count))
            error = HTTPError(.connectionLost, request: request)
        default: break
        }
        // As a terminal measures it until the head.
        response.metrics = TransferMetrics(start: Date(timeIntervalSince1970: 0), duration: .milliseconds(5))
        response.chunks = chunks(body, error)
        return response
    }

    private func part(of count: Int) -> Int { Int(random.next() % UInt64(count + 1)) }

    /// What a server without faults answers.
    private func answer(
        to request: HTTPRequest, _ file: File, ignoringRange: Bool
    ) -> (HTTPResponse, ArraySlice<UInt8>) {
        let whole = (HTTPResponse(request: request, status: .ok, headers: file.headers), file.bytes[...])
        guard !ignoringRange, let range = request.headers["Range"], let validator = request.headers["If-Range"],
            validator == file.headers["ETag"] ?? file.headers["Last-Modified"],
            let first = Int(range.dropFirst("bytes=".count).dropLast())
        else { return whole }
        let total = file.bytes.count
        guard first < total else {
            return (
                HTTPResponse(request: request, status: 416, headers: ["Content-Range": "bytes */\(total)"]), []
            )
        }
        var response = HTTPResponse(request: request, status: .partialContent, headers: file.headers)
        response.headers["Content-Range"] = "bytes \(first)-\(total - 1)/\(total)"
        return (response, file.bytes[first...])
    }

    private func chunks(_ body: ArraySlice<UInt8>, _ error: HTTPError?) -> ResponseChunks {
        let rest = Locked(body)
        return ResponseChunks(next: { [random] in
            let piece = rest.withLock { rest in
                let piece = rest.prefix(1 + Int(random.next() % 300))
                rest = rest.dropFirst(piece.count)
                return piece
            }
            if !piece.isEmpty { return Data(piece) }
            if let error { throw error }
            return nil
        })
    }
}
