/// Decides which lines of a batch go into the next request, and records the outcome of each line.
///
/// A batch is first sent as a whole. If the server does not accept it, it is sent in pieces:
///
/// - A piece that is too large is halved by its bytes, and no piece of that size is sent again.
/// - A piece that is refused because of lines that the server names is sent again without them.
/// - A piece that is refused because of lines that the server does not name is halved until these are alone. A single bad line is
///   found in at most 2·⌈log₂ n⌉ + 1 requests.
///
/// A plan stops if the server refuses everything. Let d be ⌈log₂ n⌉ + 1. After 4·d requests that were refused without naming a
/// line, if nothing was delivered although the smallest and the largest pieces were sent alternately, the lines are not the
/// cause, and all of them stay pending. The same happens if everything is too large, down to lines of some kilobytes. After 16·d
/// refused requests, the lines found so far are settled, and the rest stays pending.
package struct SplitPlan: Sendable {
    package enum Answer: Sendable, Hashable {
        /// The server stored all lines.
        case delivered
        /// The server stored all lines except these and a number of lines that it does not name.
        case partlyDelivered([ComplaintMatch.Named], unnamedCount: Int, reason: String)
        /// The server stored nothing because of these lines; the others must be sent again.
        case refusedNaming([ComplaintMatch.Named])
        /// The server stored nothing because of some line, possibly the suspect.
        case refused(suspect: Int?, reason: String)
        /// The server stored nothing because the piece is too large.
        case tooLarge(reason: String)
        /// The server stored nothing, and further requests would fail too.
        case failed(DeliveryFailure)
    }

    private let batch: LineBatch
    /// The pieces still to send, in the order of the lines.
    private var pending: [LineSet]
    /// The piece that was returned last.
    private var current = LineSet()
    package private(set) var limit: SizeLimit

    private var refusals = 0
    /// The number of refusals that named no line.
    private var fruitlessRefusals = 0
    /// Whether the next piece is the largest rather than the smallest; nil while they are sent in order.
    private var triesLargest: Bool?
    /// The line that the server pointed at, which is sent alone next.
    private var suspect: Int?
    /// Whether every line that the server pointed at turned out to be bad.
    private var trustsSuspects = true
    /// The size of the largest accepted piece; nil if none was accepted.
    private var takenSize: Int?

    /// The stored lines, including those that ``unnamedRejections`` counts as rejected.
    package private(set) var delivered = LineSet()
    /// The reasons of rejected lines, by line.
    private var rejected: [Int: String] = [:]
    /// Lines that were refused alone, which proves little about them while nothing has been delivered.
    private var refusedAlone: [Int: String] = [:]
    package private(set) var unnamedRejections: [UnnamedRejection] = []
    /// The reason why the plan stopped before all lines were settled.
    package private(set) var failure: DeliveryFailure?

    /// No server has a limit of this size or less; such a refusal has another cause.
    private static let smallestLimit = 16 << 10

    /// Plans the sending of a batch, with the size limit of a piece that earlier batches revealed.
    package init(_ batch: LineBatch, limit: SizeLimit = SizeLimit()) {
        self.batch = batch
        self.limit = limit
        pending = batch.isEmpty ? [] : [LineSet(0..<batch.count)]
    }

    /// The maximum number of refusals while nothing is delivered.
    package var patience: Int { 4 * depth }
    /// The maximum number of refusals altogether.
    package var greatestRefusals: Int { 16 * depth }
    /// The number of times that a batch can be halved, plus 1.
    private var depth: Int { Int.bitWidth - max(0, batch.count - 1).leadingZeroBitCount + 1 }
}

// MARK: - Requests and answers

extension SplitPlan {
    /// The lines for the next request; nil if there is nothing more to send.
    package mutating func next() -> LineSet? {
        guard failure == nil, let index = nextIndex else { return nil }
        var piece = pending.remove(at: index)
        while piece.count > 1, limit.excludes(batch.byteCount(of: piece)) {
            let (first, second) = halvedByBytes(piece)
            pending.insert(second, at: index)
            piece = first
        }
        current = piece
        return piece
    }

    /// The index of the next piece: a suspect first; then, while nothing was accepted, the smallest and the largest alternately;
    /// otherwise the first.
    private var nextIndex: Int? {
        if let suspect, let index = pending.firstIndex(of: LineSet(suspect..<(suspect + 1))) { return index }
        guard let triesLargest, takenSize == nil else { return pending.indices.first }
        let bySize: (Int, Int) -> Bool = { pending[$0].count < pending[$1].count }
        return triesLargest ? pending.indices.reversed().max(by: bySize) : pending.indices.min(by: bySize)
    }

    /// Records the answer to the piece that was returned last; line numbers in it are relative to the piece.
    package mutating func take(_ answer: Answer) {
        let piece = current
        guard !piece.isEmpty else { return }
        current = LineSet()
        switch answer {
        case .delivered:
            if piece.count == 1, piece.first == suspect { trustsSuspects = false }
            limit.noteTaken()
            deliver(piece)
        case .partlyDelivered(let named, let unnamedCount, let reason):
            deliver(piece.subtracting(reject(named, of: piece)))
            if unnamedCount > 0 { unnamedRejections.append(UnnamedRejection(count: unnamedCount, reason: reason)) }
        case .refusedNaming(let named):
            let bad = reject(named, of: piece)
            if bad.isEmpty {
                refuse(piece, suspect: nil, "no reason given")
            } else {
                put([piece.subtracting(bad)])
                countRefusal(named.first?.reason ?? "")
            }
        case .refused(let suspect, let reason):
            refuse(piece, suspect: suspect, reason)
        case .tooLarge(let reason):
            limit.noteRefused(batch.byteCount(of: piece), largestTaken: takenSize)
            if piece.count == 1 { refusedAlone[piece.first ?? 0] = reason } else { put(halvedByBytes(piece)) }
            fruitlessRefusals += 1
            countRefusal(reason)
        case .failed(let failure):
            put([piece])
            stop(failure)
        }
        if pending.isEmpty, takenSize == nil, case .tooLarge(let reason) = answer, let size = limit.refused,
            size <= Self.smallestLimit
        {
            stop(.refused(.contentTooLarge, reason: reason))
        }
        // Lines that were refused alone are bad if other lines were accepted, or if no lines are left.
        if takenSize != nil || (pending.isEmpty && failure == nil) { settle() }
    }

    private mutating func deliver(_ lines: LineSet) {
        guard !lines.isEmpty else { return }
        delivered = delivered.union(lines)
        takenSize = max(takenSize ?? 0, batch.byteCount(of: lines))
    }

    /// Records the reasons for rejected lines of a piece, and returns these lines.
    private mutating func reject(_ named: [ComplaintMatch.Named], of piece: LineSet) -> LineSet {
        var lines: [Int] = []
        for each in named {
            guard let line = piece.line(at: each.line) else { continue }
            rejected[line] = each.reason
            lines.append(line)
        }
        return LineSet(lines)
    }

    private mutating func refuse(_ piece: LineSet, suspect: Int?, _ reason: String) {
        if piece.count == 1 {
            refusedAlone[piece.first ?? 0] = reason
        } else if trustsSuspects, let line = suspect.flatMap(piece.line) {
            self.suspect = line
            let alone = LineSet(line..<(line + 1))
            put([alone, piece.subtracting(alone)])
        } else {
            put(halved(piece))
        }
        triesLargest = triesLargest.map { !$0 } ?? true
        fruitlessRefusals += 1
        countRefusal(reason)
    }

    private mutating func settle() {
        rejected.merge(refusedAlone) { first, _ in first }
        refusedAlone = [:]
    }

    private mutating func countRefusal(_ reason: String) {
        refusals += 1
        guard !pending.isEmpty else { return }
        if takenSize == nil, fruitlessRefusals >= patience {
            stop(.refused(nil, reason: "All \(refusals) requests were rejected. \(reason)"))
        } else if refusals >= greatestRefusals {
            stop(.unsettled(reason: reason))
        }
    }

    private mutating func stop(_ failure: DeliveryFailure) {
        if takenSize == nil {
            put([LineSet(refusedAlone.keys)])
            refusedAlone = [:]
        }
        self.failure = failure
    }

    private mutating func put(_ pieces: [LineSet]) {
        for piece in pieces {
            guard let first = piece.first else { continue }
            let index = pending.firstIndex { ($0.first ?? 0) > first } ?? pending.endIndex
            pending.insert(piece, at: index)
        }
    }

    private mutating func put(_ halves: (LineSet, LineSet)) { put([halves.0, halves.1]) }

    private func halved(_ piece: LineSet) -> (LineSet, LineSet) { piece.split(after: (piece.count + 1) / 2) }

    /// Splits a piece of several lines into two non-empty parts of about the same number of bytes.
    private func halvedByBytes(_ piece: LineSet) -> (LineSet, LineSet) {
        let half = batch.byteCount(of: piece) / 2
        var (count, bytes) = (0, 0)
        for line in piece.lines {
            bytes += batch.range(of: line).count
            if bytes > half { break }
            count += 1
        }
        return piece.split(after: min(max(count, 1), piece.count - 1))
    }
}

// MARK: - Outcome

extension SplitPlan {
    package var undelivered: LineSet { pending.reduce(current) { $0.union($1) } }

    /// The rejected lines, in order.
    package var rejectedLines: [RejectedLine] {
        rejected.sorted { $0.key < $1.key }.map { RejectedLine(line: batch.text(of: $0.key), reason: $0.value) }
    }
}

/// The size limit of a request, as learned from a server's refusals.
///
/// A server's limit can be raised, and a limit learned by mistake must not permanently split batches into single lines. So the
/// limit doubles after some accepted requests; each time that the doubled size is refused, the next attempt needs four times as
/// many.
package struct SizeLimit: Sendable, Hashable {
    /// A size that was refused; nil if none was.
    package private(set) var refused: Int?
    /// The number of accepted requests in a row since the limit was set.
    private var taken = 0
    /// The number of accepted requests after which the limit doubles.
    private var patience = leastPatience
    /// Whether the limit was doubled since the last refusal.
    private var isTrial = false

    private static let leastPatience = 32
    private static let greatestPatience = 8_192

    package init() {}

    /// Whether a size is likely to be refused.
    package func excludes(_ size: Int) -> Bool { refused.map { size >= $0 } ?? false }

    package mutating func noteTaken() {
        guard let refused else { return }
        taken += 1
        guard taken >= patience else { return }
        let (double, isTooLarge) = refused.multipliedReportingOverflow(by: 2)
        self.refused = isTooLarge ? nil : double
        taken = 0
        isTrial = true
    }

    /// Records that a size was refused, while `largestTaken` was the largest size that was accepted for the same batch.
    package mutating func noteRefused(_ size: Int, largestTaken: Int?) {
        if isTrial { patience = min(patience * 4, Self.greatestPatience) }
        // The limit is above any size that was accepted.
        refused = max(min(refused ?? .max, size), (largestTaken ?? 0) + 1)
        taken = 0
        isTrial = false
    }
}
