import DurableFiles
import LoaderChainPlatformFoundation

/// One call of a download: asks the chain what the state wants to know, and writes what comes to the part file.
struct DownloadRun {
    /// The caller's request, and the request for a part without its range.
    private let request, partRequest: HTTPRequest
    private let destination: URL
    private let settings: ResumableDownload.Settings
    private let timers: any Timers
    private let random: RandomSource
    private let loader: String
    private let next: Next
    private let onProgress: (@Sendable (TransferProgress) -> Void)?
    private let disk = DiskQueue()

    init(
        _ request: HTTPRequest, to destination: URL, settings: ResumableDownload.Settings, timers: any Timers,
        random: RandomSource, loader: String, next: Next
    ) {
        self.destination = destination
        self.settings = settings
        self.timers = timers
        self.random = random
        self.loader = loader
        self.next = next
        onProgress = request.onProgress
        self.request = request
        partRequest = Self.prepared(request)
    }

    private static func prepared(_ request: HTTPRequest) -> HTTPRequest {
        var request = request
        request.delivery = .chunks
        // The progress of one part would begin at zero again.
        request.onProgress = nil
        // Ranges count the bytes of a coding, and each coding has an entity tag of its own.
        request.headers["Accept-Encoding"] = "identity"
        return request
    }

    func load(
        _ openDirectory: @escaping @Sendable (URL) throws(FileFailure) -> any Directory
    ) async throws -> HTTPResponse {
        let (destination, subject) = (destination, subject)
        let opened = try await doing { () throws(FileFailure) -> (part: PartBox, left: (DownloadRecord, Int64)?)? in
            let directory = try openDirectory(destination.deletingLastPathComponent())
            guard let part = try PartFile(destination.lastPathComponent, in: directory) else { return nil }
            return (PartBox(part), part.left(of: subject))
        }
        guard let (part, left) = opened else {
            throw error(.cannotStoreResponse, reason: "Another download to the same file is running")
        }
        var state = DownloadState(settings)
        if let (record, length) = left { state.restore(record.version, kept: record.kept, length: length) }
        do {
            return try await load(part, &state)
        } catch {
            await leave(part, state)
            throw error
        }
    }

    private func load(_ part: PartBox, _ state: inout DownloadState) async throws -> HTTPResponse {
        var requests = 0
        while true {
            requests += 1
            do {
                if let response = try await loadOnce(part, &state, requests) { return response }
            } catch let error as HTTPError where HTTPResult.failure(error).isTransientFailure {
                guard let delay = delay(after: error.response, &state) else { throw error }
                try await timers.sleep(for: delay)
            }
        }
    }

    /// Asks once, and takes what comes; nil if the chain has to be asked again.
    private func loadOnce(
        _ part: PartBox, _ state: inout DownloadState, _ requests: Int
    ) async throws -> HTTPResponse? {
        let question = state.question
        var response = try await ask(question)
        switch state.take(response, to: question, now: timers.date) {
        case .begins: try await doing { () throws(FileFailure) in try part.file.begin() }
        case .goesOn(let count): try await doing { () throws(FileFailure) in try part.file.goOn(after: count) }
        case .doesNotFit: return nil
        case .isBusy:
            guard let delay = delay(after: response, &state) else { return try await deliver(&response, part, state) }
            // This ends the transfer.
            response.chunks = nil
            try await timers.sleep(for: delay)
            return nil
        case .isNoFile: return try await deliver(&response, part, state)
        case .isWrong(let reason): throw error(.invalidResponse, response.head, reason: reason)
        }
        let (first, start) = (state.count, timers.now)
        switch try await receive(response, part, &state) {
        case .complete:
            var head = response.head
            // The terminal has measured the transfer until the head.
            head.metrics?.bytesReceived = state.count - first
            head.metrics?.duration += start.duration(to: timers.now)
            return try await finish(part, &state, head, requests)
        case .more:
            if state.takePart() { return nil }
            throw error(.invalidResponse, response.head, reason: "The server keeps sending parts without new bytes")
        case .cut:
            throw error(.connectionLost, response.head, reason: "The body is shorter than the server announced")
        }
    }

    private func delay(after response: HTTPResponse?, _ state: inout DownloadState) -> Duration? {
        state.takeFailure(asked: RetryAfter.delay(of: response, now: timers.date), roll: random.unit())
    }

    /// Returns a response without a part of the file.
    private func deliver(
        _ response: inout HTTPResponse, _ part: PartBox, _ state: DownloadState
    ) async throws -> HTTPResponse {
        response.body = try await body(of: response)
        response.chunks = nil
        await leave(part, state)
        return response
    }

    // MARK: Asking

    private func ask(_ question: DownloadState.Question) async throws -> HTTPResponse {
        var request = partRequest
        if case .rest(let first, let validator) = question {
            request.headers["Range"] = "bytes=\(first)-"
            request.headers["If-Range"] = validator
        }
        do {
            return try await next(request)
        } catch let error as HTTPError {
            // A loader below may have made an error of a status that is an answer here.
            guard let response = error.response else { throw error }
            switch (question, response.status) {
            case (_, .rangeNotSatisfiable): return response
            case (.rest, .partialContent) where error.code == .invalidResponse && isAcceptable(asWhole: response):
                return response
            default: throw error
            }
        }
    }

    /// Whether the request's own check accepts a response once the rest is part of the whole.
    private func isAcceptable(asWhole rest: HTTPResponse) -> Bool {
        var whole = rest
        whole.status = .ok
        return request.responseCheck?.verdict(on: whole, by: loader) == nil
    }

    /// The identity of the download; on the disk it is a digest.
    private var subject: String {
        if let name = request.downloadName { return DownloadRecord.subject("name " + name) }
        // A loader below may fill in the host, so the request need not have one.
        let address = request.storage.address
        return DownloadRecord.subject(
            "address \(address.scheme)://\(address.authority)\(address.target(showing: .shown))")
    }

    /// The body of a response that explains an error.
    private func body(of response: HTTPResponse) async throws -> Data {
        guard let chunks = response.chunks else { return response.body }
        do {
            return try await chunks.collect(upTo: 1 << 20)
        } catch let failure as HTTPBodyError {
            throw error(.responseTooLarge, response.head, failure)
        }
    }

    // MARK: Receiving

    private func receive(
        _ response: HTTPResponse, _ part: PartBox, _ state: inout DownloadState
    ) async throws -> DownloadState.Ending {
        report(state)
        var pieces = ResponsePieces(response)
        var unflushed: Int64 = 0
        while let piece = try await pieces.next() {
            try Task.checkCancellation()
            guard state.accepts(piece.count) else {
                throw error(.invalidResponse, response.head, reason: "The body is longer than the server announced")
            }
            let offset = state.count
            try await doing { () throws(FileFailure) in try part.file.write(piece, at: offset) }
            state.noteWritten(piece.count)
            report(state)
            unflushed += Int64(piece.count)
            if unflushed >= settings.bytesBetweenFlushes, let record = record(of: state) {
                try await doing { () throws(FileFailure) in try part.file.keep(record) }
                unflushed = 0
            }
        }
        return state.takeEnd()
    }

    private func report(_ state: DownloadState) {
        onProgress?(TransferProgress(bytesReceived: state.count, bytesToReceive: state.version?.length))
    }

    // MARK: Ending

    /// Checks the complete file, and moves it to its destination; nil if it has to be asked for once more.
    private func finish(
        _ part: PartBox, _ state: inout DownloadState, _ head: HTTPResponse, _ requests: Int
    ) async throws -> HTTPResponse? {
        if let checksum = state.version?.checksums.first {
            let isRight = try await doing { () throws(FileFailure) in try part.file.has(checksum) }
            guard isRight else {
                let mayAskAgain = state.takeWrongChecksum()
                try await doing { () throws(FileFailure) in try part.file.discard() }
                if mayAskAgain { return nil }
                throw error(.invalidResponse, head, reason: "The file's checksum differs from the server's")
            }
        }
        try await doing { () throws(FileFailure) in try part.file.finish() }
        var response = head
        if response.status == .partialContent { response.status = .ok }
        response.headers["Content-Range"] = nil
        response.headers["Content-Length"] = "\(state.count)"
        response.body = Data()
        response.file = destination
        response.attempts = requests
        return response
    }

    /// Keeps what the next download can use, and removes the rest.
    private func leave(_ part: PartBox, _ state: DownloadState) async {
        let record = record(of: state)
        await disk.perform { part.file.leave(record) }
    }

    private func record(of state: DownloadState) -> DownloadRecord? {
        guard state.isResumable, let version = state.version else { return nil }
        return DownloadRecord(subject: subject, version: version, kept: state.count)
    }

    // MARK: Errors

    private func error(
        _ code: HTTPError.Code, _ response: HTTPResponse? = nil, _ underlying: (any Error)? = nil, reason: String? = nil
    ) -> HTTPError {
        HTTPError(
            code, request: request, response: response, underlyingError: underlying, reason: reason, loader: loader)
    }

    /// Performs `body` on the queue of the disk; its error becomes that of the download.
    private func doing<Value: Sendable>(
        _ body: @escaping @Sendable () throws(FileFailure) -> Value
    ) async throws -> Value {
        do throws(FileFailure) { return try await disk.perform(body) } catch {
            let path = ASCII.printable(destination.path(percentEncoded: false))
            let reason = "The file \(path) cannot be stored: \(error.cause)"
            throw self.error(.cannotStoreResponse, nil, error, reason: reason)
        }
    }
}

/// A part file on its way between the queue of the disk and the run, which take turns.
private final class PartBox: @unchecked Sendable {
    let file: PartFile
    init(_ file: PartFile) { self.file = file }
}
