import LoaderChain
import LoaderChainGzip
import LoaderChainPlatformFoundation

/// Sends batches of lines through a chain, and determines the outcome of each line.
///
/// It does not retry, wait or limit; that is left to the writer and to the loaders of the chain. If the server does not accept a
/// batch as a whole, it sends the batch in pieces, as described for ``SplitPlan``.
package struct BatchSender: LineSender {
    private let destination: InfluxDestination
    private let chain: HTTPLoader
    private let compression: LineCompression
    private let knowledge = ServerKnowledge()
    private let date: @Sendable () -> Date

    /// Creates a sender; `date` returns the current date, for a `Retry-After` with a date.
    package init(
        to destination: InfluxDestination, through chain: HTTPLoader, compression: LineCompression = .gzip(),
        date: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.destination = destination
        self.chain = chain
        self.compression = compression
        self.date = date
    }

    /// The counts for a batch that is being sent.
    private struct Account {
        var outcome = BatchOutcome()
        /// Whether a rejection without a stated reason may still lead to an attempt without compression.
        var mayDoubtCompression = true
    }

    package func send(_ batch: LineBatch) async -> BatchOutcome {
        var account = Account()
        var plan = SplitPlan(batch, limit: knowledge.limit)
        while let lines = plan.next() {
            plan.take(await answer(to: batch.batch(of: lines), &account))
        }
        knowledge.note(plan.limit)
        var outcome = account.outcome
        outcome.rejected = plan.rejectedLines
        outcome.unnamedRejections = plan.unnamedRejections
        outcome.deliveredCount = plan.delivered.count - plan.unnamedRejections.reduce(0) { $0 + $1.count }
        outcome.undelivered = plan.undelivered
        outcome.failure = plan.failure
        return outcome
    }
}

// MARK: - Sending a piece

extension BatchSender {
    private func answer(to piece: LineBatch, _ account: inout Account) async -> SplitPlan.Answer {
        Self.answer(await verdict(on: piece, &account), piece)
    }

    /// Sends one piece, and sends it again without compression if the server may have rejected that.
    private func verdict(on piece: LineBatch, _ account: inout Account) async -> WriteVerdict {
        let plain = LineBody(bytes: piece.bytes, isCompressed: false)
        guard let threshold = compression.threshold, piece.bytes.count >= threshold, knowledge.compressesLines,
            let compressed = knowledge.compressed(piece.bytes)
        else { return await verdict(on: plain, piece, &account) }

        let verdict = await verdict(on: LineBody(bytes: compressed, isCompressed: true), piece, &account)
        if Self.isTaken(verdict) { knowledge.noteTakenCompressed() }
        guard blameCompression(for: verdict, piece, &account) else { return verdict }
        let second = await self.verdict(on: plain, piece, &account)
        if Self.isTaken(second), knowledge.stopCompressing() { account.outcome.compressionWasRefused = true }
        return second
    }

    private func verdict(
        on body: LineBody, _ piece: LineBatch, _ account: inout Account
    ) async -> WriteVerdict {
        let request = destination.request(writing: body, in: piece.precision)
        account.outcome.requests += 1
        account.outcome.bytesSent += body.bytes.count
        return WriteVerdict(await chain.result(of: request), now: date())
    }

    /// Whether the compression may be the reason for a verdict on a compressed piece.
    private func blameCompression(for verdict: WriteVerdict, _ piece: LineBatch, _ account: inout Account) -> Bool {
        switch verdict {
        case .unknownEncoding: return true
        case .rejected(let complaint):
            guard ComplaintMatch(complaint, in: piece).named.isEmpty else { return false }
            return complaint.mayBeAboutCompression || doubtCompression(&account)
        case .failed(.unexpectedAnswer(let status?, _)) where StatusMeaning(status) == .malformed:
            // A gateway that does not support gzip may respond with an HTML page.
            return doubtCompression(&account)
        case .delivered, .partlyDelivered, .tooLarge, .failed: return false
        }
    }

    /// Whether an attempt without compression is worth it though nothing speaks for it: once per batch, as long as the server has
    /// never accepted a compressed request.
    private func doubtCompression(_ account: inout Account) -> Bool {
        !knowledge.hasTakenCompressed && replace(&account.mayDoubtCompression, with: false)
    }

    private static func isTaken(_ verdict: WriteVerdict) -> Bool {
        switch verdict {
        case .delivered, .partlyDelivered: true
        case .rejected, .tooLarge, .unknownEncoding, .failed: false
        }
    }

    private static func answer(_ verdict: WriteVerdict, _ piece: LineBatch) -> SplitPlan.Answer {
        switch verdict {
        case .delivered: return .delivered
        case .partlyDelivered(let complaint):
            let match = ComplaintMatch(complaint, in: piece)
            // Sent again without the named lines, the server names the others that it has rejected.
            if match.mayHideOthers, !match.named.isEmpty { return .refusedNaming(match.named) }
            return .partlyDelivered(match.named, unnamedCount: match.unnamedCount, reason: complaint.reason)
        case .rejected(let complaint):
            let match = ComplaintMatch(complaint, in: piece)
            if !match.named.isEmpty { return .refusedNaming(match.named) }
            return .refused(suspect: match.suspect, reason: complaint.reason)
        case .tooLarge(let complaint): return .tooLarge(reason: complaint.reason)
        case .unknownEncoding(let complaint):
            return .failed(.refused(.unsupportedMediaType, reason: complaint.reason))
        case .failed(let failure): return .failed(failure)
        }
    }
}

struct LineBody: HTTPBody {
    let bytes: Data
    /// Whether the bytes are a gzip stream.
    let isCompressed: Bool

    var isEmpty: Bool { bytes.isEmpty }

    var additionalHeaders: HTTPHeaders {
        var headers: HTTPHeaders = ["Content-Type": "text/plain; charset=utf-8"]
        if isCompressed { headers["Content-Encoding"] = "gzip" }
        return headers
    }

    func encode() -> HTTPBodyContent { .data(bytes) }
}

/// What a sender has learned about its server, and its gzip encoder, both kept between batches, of which any number may be in flight.
private struct ServerKnowledge: Sendable {
    private struct State {
        var compressesLines = true
        var hasTakenCompressed = false
        var limit = SizeLimit()
        var encoder: GzipEncoder?
    }

    private let state = Locked(State())

    var compressesLines: Bool { state.withLock(\.compressesLines) }

    var hasTakenCompressed: Bool { state.withLock(\.hasTakenCompressed) }

    func noteTakenCompressed() { state.withLock { $0.hasTakenCompressed = true } }

    /// Records that the server cannot read compressed lines; returns true for the first call.
    func stopCompressing() -> Bool {
        state.withLock { replace(&$0.compressesLines, with: false) }
    }

    var limit: SizeLimit { state.withLock(\.limit) }

    /// Records the size limit that a batch revealed; the last of several concurrent batches wins.
    func note(_ limit: SizeLimit) { state.withLock { $0.limit = limit } }

    /// The bytes as a gzip stream, if that is shorter.
    func compressed(_ bytes: Data) -> Data? {
        // If another thread is using the encoder, a second one is created; the one returned last is kept.
        guard let encoder = state.withLock({ replace(&$0.encoder, with: nil) }) ?? GzipEncoder() else { return nil }
        defer { _ = state.withLock { replace(&$0.encoder, with: encoder) } }
        guard let compressed = encoder.compressed(bytes), compressed.count < bytes.count else { return nil }
        return compressed
    }
}

/// The compression of the requests that send lines.
public struct LineCompression: Sendable, Hashable {
    /// The minimum number of bytes of a compressed body; nil for no compression.
    let threshold: Int?

    /// Sends lines without compression.
    public static let off = LineCompression(threshold: nil)

    /// Compresses bodies of at least `threshold` bytes with gzip, at its fastest level.
    ///
    /// Shorter bodies gain nothing, because they fit into one or two packets anyway. If the server rejects the first compressed
    /// request, the writer sends the lines uncompressed from then on.
    ///
    /// - Parameter threshold: the minimum number of bytes.
    public static func gzip(from threshold: Int = 4_096) -> LineCompression {
        LineCompression(threshold: max(1, threshold))
    }
}
