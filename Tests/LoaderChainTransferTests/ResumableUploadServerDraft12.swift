import Foundation
import LoaderChain

/// A server of resumable uploads by draft-ietf-httpbis-resumable-upload-12, in memory and without a network.
///
/// The server keeps what arrives under addresses of its own, answers questions for offsets, refuses wrong ones, and cancels. It
/// sends no interim responses.
final class ResumableUploadServerDraft12: HTTPLoader, @unchecked Sendable {
    /// A fault of one request.
    enum Fault: Sendable, CaseIterable {
        /// The request does not arrive.
        case lost
        /// A part of the body arrives, and the connection is lost.
        case cut
        /// The request is carried out, and its response is lost.
        case unanswered
        /// The server says 503, and does nothing.
        case unavailable
    }

    private struct Upload {
        var bytes: [UInt8] = []
        /// The announced length of the whole.
        var length: Int?
        var isComplete = false

        /// Appends bytes unless they contradict the announced length, and returns whether they do not.
        mutating func append(_ more: [UInt8], completes: Bool) -> Bool {
            let count = bytes.count + more.count
            if let length, count > length || (completes && count < length) { return false }
            bytes += more
            isComplete = completes
            return true
        }
    }

    private struct State {
        var uploads: [String: Upload] = [:]
        var lastNumber = 0
        var faults: [Fault] = []
        var requests: [HTTPRequest] = []
        var complete: [Data] = []
    }

    private let largest: Int
    private let largestAppend: Int
    private let random: RandomSource
    private let state = Locked(State())

    /// Makes a server.
    ///
    /// - Parameters:
    ///   - largest: the maximum number of bytes of an upload.
    ///   - largestAppend: the maximum number of bytes of one request.
    ///   - random: chooses where bodies are cut.
    init(largest: Int = 1 << 30, largestAppend: Int = 1 << 30, random: RandomSource = RandomSource(seed: 1)) {
        self.largest = largest
        self.largestAppend = largestAppend
        self.random = random
    }

    /// The uploads that are complete.
    var complete: [Data] { state.withLock { $0.complete } }
    /// The requests that were sent, those with faults among them.
    var requests: [HTTPRequest] { state.withLock { $0.requests } }
    /// How many uploads the server has, complete or not.
    var count: Int { state.withLock { $0.uploads.count } }

    /// Lets these go wrong with the next requests.
    func meet(_ faults: Fault...) { state.withLock { $0.faults += faults } }

    /// True: it completes every task itself.
    override var isTerminal: Bool { true }

    /// Answers a request, or loses it.
    override func load(task: HTTPTask) {
        let request = task.request
        let body: [UInt8]
        do {
            var reader = try request.body.encode().makeReader()
            var bytes: [UInt8] = []
            while let piece = try reader.read(upTo: 65_536) { bytes += piece }
            body = bytes
        } catch { return _ = fail(task, .invalidRequest, underlyingError: error) }
        let (answer, fault) = state.withLock { state -> (HTTPResponse?, Fault?) in
            state.requests.append(request)
            let fault = state.faults.isEmpty ? nil : state.faults.removeFirst()
            switch fault {
            case .lost: return (nil, fault)
            case .unavailable: return (HTTPResponse(request: request, status: 503), fault)
            case .cut:
                let part = body.prefix(Int(random.next() % UInt64(body.count + 1)))
                _ = respond(to: request, Array(part), isWhole: false, &state)
                return (nil, fault)
            case .unanswered:
                _ = respond(to: request, body, isWhole: true, &state)
                return (nil, fault)
            case nil: return (respond(to: request, body, isWhole: true, &state), nil)
            }
        }
        guard let answer else { return _ = fail(task, .connectionLost, reason: "\(fault.map { "\($0)" } ?? "")") }
        task.complete(.success(answer))
    }

    private func respond(
        to request: HTTPRequest, _ body: [UInt8], isWhole: Bool, _ state: inout State
    ) -> HTTPResponse {
        func answer(_ status: HTTPStatus, _ headers: HTTPHeaders = [:]) -> HTTPResponse {
            var headers = headers
            headers["Upload-Limit"] = "max-size=\(largest), max-append-size=\(largestAppend)"
            return HTTPResponse(request: request, status: status, headers: headers)
        }
        guard request.headers["Upload-Draft-Interop-Version"] == "8", body.count <= largestAppend else {
            return answer(body.count > largestAppend ? 413 : 400)
        }
        guard request.path.hasPrefix("/uploads/") else {
            return create(request, body, isWhole: isWhole, &state, answer)
        }
        guard var upload = state.uploads[request.path] else { return answer(.notFound) }
        let here: HTTPHeaders = [
            "Upload-Offset": "\(upload.bytes.count)", "Upload-Complete": upload.isComplete ? "?1" : "?0",
        ]
        switch request.method {
        case .delete:
            state.uploads[request.path] = nil
            return answer(.noContent)
        case .head:
            var headers = here
            headers["Cache-Control"] = "no-store"
            headers["Upload-Length"] = upload.length.map { "\($0)" }
            return answer(.noContent, headers)
        case .patch:
            guard request.headers["Content-Type"] == "application/partial-upload" else { return answer(415) }
            guard request.headers["Upload-Offset"] == "\(upload.bytes.count)" else { return answer(409, here) }
            let completes = isWhole && request.headers["Upload-Complete"] == "?1"
            guard !upload.isComplete, upload.bytes.count + body.count <= largest,
                upload.append(body, completes: completes)
            else { return answer(400) }
            state.uploads[request.path] = upload
            guard completes else { return answer(.noContent, ["Upload-Complete": "?0"]) }
            state.complete.append(Data(upload.bytes))
            return answer(.ok, ["Upload-Complete": "?1"])
        default: return answer(405)
        }
    }

    private func create(
        _ request: HTTPRequest, _ body: [UInt8], isWhole: Bool, _ state: inout State,
        _ answer: (HTTPStatus, HTTPHeaders) -> HTTPResponse
    ) -> HTTPResponse {
        guard let complete = request.headers["Upload-Complete"] else { return answer(400, [:]) }
        let length = request.headers["Upload-Length"].flatMap { Int($0) }
        if max(length ?? 0, body.count) > largest { return answer(413, [:]) }
        var upload = Upload(length: length)
        guard upload.append(body, completes: isWhole && complete == "?1") else { return answer(400, [:]) }
        state.lastNumber += 1
        let path = "/uploads/\(state.lastNumber)"
        state.uploads[path] = upload
        guard upload.isComplete else { return answer(.created, ["Location": path]) }
        state.complete.append(Data(body))
        return answer(.ok, ["Upload-Complete": "?1"])
    }
}
