import LoaderChain
import LoaderChainGzip
import LoaderChainPlatformFoundation

/// Sends batches of lines through a chain, and finds out what became of each line.
///
/// It has no patience of its own: to try again, to wait and to limit is for the loaders of the chain. What it does itself is
/// to send in pieces what the server does not take whole, as ``SplitPlan`` says.
package struct BatchSender: LineSender {
    private let destination: InfluxDestination
    private let chain: HTTPLoader
    private let compression: LineCompression
    private let knowledge = ServerKnowledge()
    private let date: @Sendable () -> Date

    /// Makes a sender.
    ///
    /// - Parameters:
    ///   - destination: where the lines go.
    ///   - chain: what the requests are loaded by.
    ///   - compression: whether lines are compressed.
    ///   - date: tells the date, for servers that ask for patience until one.
    package init(
        to destination: InfluxDestination, through chain: HTTPLoader, compression: LineCompression = .gzip(),
        date: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.destination = destination
        self.chain = chain
        self.compression = compression
        self.date = date
    }

    /// What is counted while a batch is on its way.
    private struct Account {
        var outcome = BatchOutcome()
        /// Whether it may still be tried out if compression is what the server objects to without saying so.
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
        outcome.obstacle = plan.obstacle
        return outcome
    }
}

// MARK: - One piece

extension BatchSender {
    private func answer(to piece: LineBatch, _ account: inout Account) async -> SplitPlan.Answer {
        Self.answer(await verdict(on: piece, &account), piece)
    }

    /// Sends one piece, without compression too where that may be what the server objects to.
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
        let result: HTTPResult
        do throws(HTTPError) {
            result = .success(try await chain.load(request))
        } catch {
            result = .failure(error)
        }
        return WriteVerdict(result, now: date())
    }

    /// Decides whether a verdict on a compressed piece may have nothing to do with its lines.
    private func blameCompression(for verdict: WriteVerdict, _ piece: LineBatch, _ account: inout Account) -> Bool {
        switch verdict {
        case .unknownEncoding: return true
        case .rejected(let complaint):
            guard ComplaintMatch(complaint, in: piece).named.isEmpty else { return false }
            if complaint.mayBeAboutCompression { return true }
            // A server that has never taken a compressed request is given the benefit of the doubt, once for each batch.
            guard account.mayDoubtCompression, !knowledge.hasTakenCompressed else { return false }
            account.mayDoubtCompression = false
            return true
        case .obstructed(.unexpectedAnswer(let status?, _)) where StatusMeaning(status) == .malformed:
            // A gateway that does not read gzip may say so with a page.
            guard account.mayDoubtCompression, !knowledge.hasTakenCompressed else { return false }
            account.mayDoubtCompression = false
            return true
        default: return false
        }
    }

    private static func isTaken(_ verdict: WriteVerdict) -> Bool {
        switch verdict {
        case .delivered, .partlyDelivered: true
        default: false
        }
    }

    private static func answer(_ verdict: WriteVerdict, _ piece: LineBatch) -> SplitPlan.Answer {
        switch verdict {
        case .delivered: return .delivered
        case .partlyDelivered(let complaint):
            let match = ComplaintMatch(complaint, in: piece)
            // Without the lines it has named, it tells of those that it has kept to itself.
            if match.mayHideOthers, !match.named.isEmpty { return .refusedNaming(match.named) }
            return .partlyDelivered(match.named, unnamedCount: match.unnamedCount, reason: complaint.reason)
        case .rejected(let complaint):
            let match = ComplaintMatch(complaint, in: piece)
            if !match.named.isEmpty { return .refusedNaming(match.named) }
            return .refused(suspect: match.suspect, reason: complaint.reason)
        case .tooLarge(let complaint): return .tooLarge(reason: complaint.reason)
        case .unknownEncoding(let complaint):
            return .obstructed(.refused(.unsupportedMediaType, reason: complaint.reason))
        case .obstructed(let obstacle): return .obstructed(obstacle)
        }
    }
}

/// Lines as the body of a request.
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

/// What a sender has learnt about its server, and what it keeps from one batch to the next.
///
/// Any number of batches may be on their way at once.
private struct ServerKnowledge: Sendable {
    private struct State {
        var compressesLines = true
        var hasTakenCompressed = false
        var limit = SizeLimit()
        var encoder: GzipEncoder?
    }

    private let state = Locked(State())

    /// Whether the server may be able to read compressed lines.
    var compressesLines: Bool { state.withLock(\.compressesLines) }

    /// Whether the server has read compressed lines before.
    var hasTakenCompressed: Bool { state.withLock(\.hasTakenCompressed) }

    /// Notes that it has.
    func noteTakenCompressed() { state.withLock { $0.hasTakenCompressed = true } }

    /// Notes that it cannot; true for the first who does.
    func stopCompressing() -> Bool {
        state.withLock { replace(&$0.compressesLines, with: false) }
    }

    /// How large a request may be.
    var limit: SizeLimit { state.withLock(\.limit) }

    /// Notes what a batch has told of that; of batches at the same time, the last one counts.
    func note(_ limit: SizeLimit) { state.withLock { $0.limit = limit } }

    /// The bytes as a gzip stream, if that is shorter.
    func compressed(_ bytes: Data) -> Data? {
        // A thread that comes while the encoder is in use makes another one, and one of them stays.
        guard let encoder = state.withLock({ replace(&$0.encoder, with: nil) }) ?? GzipEncoder() else { return nil }
        defer { _ = state.withLock { replace(&$0.encoder, with: encoder) } }
        guard let compressed = encoder.compressed(bytes), compressed.count < bytes.count else { return nil }
        return compressed
    }
}

/// Whether lines are compressed on their way.
public struct LineCompression: Sendable, Hashable {
    /// From how many bytes on; nil for never.
    let threshold: Int?

    /// Lines are sent as they are.
    public static let off = LineCompression(threshold: nil)

    /// Lines are compressed by gzip, at its quickest level, in requests of so many bytes and more.
    ///
    /// Short bodies gain nothing: they fit into one or two packets either way. A server that cannot read gzip is found out
    /// at the first request, and gets the lines as they are from then on.
    ///
    /// - Parameter threshold: the least number of bytes.
    public static func gzip(from threshold: Int = 4_096) -> LineCompression {
        LineCompression(threshold: max(1, threshold))
    }
}
