/// Decides which lines of a batch go into the next request, and keeps the account of all of them.
///
/// A batch is sent whole. Where the server does not take it whole, it goes on in pieces:
///
/// - One that is too large is halved by its bytes, and nothing as large is sent again.
/// - One that is refused for lines which the server names goes on without them.
/// - One that is refused for lines which it does not name is halved until they are alone. A single bad line is found in
///   2·⌈log₂ n⌉ + 1 requests at the most.
///
/// A plan gives up if a server refuses everything. Let d be ⌈log₂ n⌉ + 1. When 4·d requests were refused without a word on any line, and
/// nothing was delivered although the smallest and the largest pieces were tried in turn, the fault is not with the lines:
/// all are kept; so they are if it finds everything too large, down to lines of some kilobytes. When 16·d requests were refused,
/// what was found is settled, and the rest is kept for the next time.
package struct SplitPlan: Sendable {
    /// What a server made of a piece.
    package enum Answer: Sendable, Hashable {
        /// It has all of its lines.
        case delivered
        /// It has all but these lines, and so many that it does not name.
        case partlyDelivered([ComplaintMatch.Named], unnamedCount: Int, reason: String)
        /// It will not have these lines, and the others are to be sent again.
        case refusedNaming([ComplaintMatch.Named])
        /// It has none, because of some line, which may be the suspect.
        case refused(suspect: Int?, reason: String)
        /// It has none, because the piece is too large.
        case tooLarge(reason: String)
        /// It has none, and there is no point in going on.
        case obstructed(WriteObstacle)
    }

    private let batch: LineBatch
    /// What is still to be sent, in the order of the lines.
    private var pending: [LineSet]
    /// What was handed out last.
    private var current = LineSet()
    /// How large a piece may be.
    package private(set) var limit: SizeLimit

    private var refusals = 0
    /// The refusals that told nothing of any line.
    private var fruitlessRefusals = 0
    /// Whether the next piece is the largest and not the smallest; nil while they are sent in order.
    private var triesLargest: Bool?
    /// The line that the server pointed at, and that is being tried alone.
    private var suspect: Int?
    /// Whether the server has pointed at no line that turned out to be good.
    private var trustsSuspects = true
    /// The size of the largest piece that the server has taken; nil while it has taken none.
    private var takenSize: Int?

    /// The lines that the server has, of which so many as the unnamed rejections count may be missing.
    package private(set) var delivered = LineSet()
    /// What the server will not have, by line.
    private var rejected: [Int: String] = [:]
    /// Lines that were refused alone, which says little about them while nothing has been delivered.
    private var refusedAlone: [Int: String] = [:]
    package private(set) var unnamedRejections: [UnnamedRejection] = []
    /// Why it has stopped before everything was settled.
    package private(set) var obstacle: WriteObstacle?

    /// No server means a limit of this size or less; it refuses for another reason.
    private static let smallestLimit = 16 << 10

    /// Plans the sending of a batch.
    ///
    /// - Parameter limit: how large a piece may be, as far as earlier batches tell.
    package init(_ batch: LineBatch, limit: SizeLimit = SizeLimit()) {
        self.batch = batch
        self.limit = limit
        pending = batch.isEmpty ? [] : [LineSet(0..<batch.count)]
    }

    /// The most refusals while nothing is delivered.
    package var patience: Int { 4 * depth }
    /// The most refusals altogether.
    package var greatestRefusals: Int { 16 * depth }
    /// How often a batch can be halved, and one more.
    private var depth: Int { Int.bitWidth - max(0, batch.count - 1).leadingZeroBitCount + 1 }
}

// MARK: - Going on

extension SplitPlan {
    /// The lines for the next request; nil when there is nothing more to send.
    package mutating func next() -> LineSet? {
        guard obstacle == nil, let index = nextIndex else { return nil }
        var piece = pending.remove(at: index)
        while piece.count > 1, limit.excludes(batch.byteCount(of: piece)) {
            let (first, second) = halvedByBytes(piece)
            pending.insert(second, at: index)
            piece = first
        }
        current = piece
        return piece
    }

    /// Takes the pieces in order, and while every line could be bad, the smallest and the largest in turn; a suspect first.
    private var nextIndex: Int? {
        if let suspect, let index = pending.firstIndex(of: LineSet(suspect..<(suspect + 1))) { return index }
        guard let triesLargest, takenSize == nil else { return pending.indices.first }
        let bySize: (Int, Int) -> Bool = { pending[$0].count < pending[$1].count }
        return triesLargest ? pending.indices.reversed().max(by: bySize) : pending.indices.min(by: bySize)
    }

    /// Takes what became of the lines that were handed out last; the numbers in it count within these.
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
        case .obstructed(let obstacle):
            put([piece])
            stop(obstacle)
        }
        if pending.isEmpty, takenSize == nil, case .tooLarge(let reason) = answer, let size = limit.refused,
            size <= Self.smallestLimit
        {
            stop(.refused(.contentTooLarge, reason: reason))
        }
        // What was refused alone is bad, now that other lines were not, or that there are none left.
        if takenSize != nil || (pending.isEmpty && obstacle == nil) { settle() }
    }

    private mutating func deliver(_ lines: LineSet) {
        guard !lines.isEmpty else { return }
        delivered = delivered.union(lines)
        takenSize = max(takenSize ?? 0, batch.byteCount(of: lines))
    }

    /// Notes what is wrong with some lines of a piece, and gives back which they are.
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
            stop(.refused(nil, reason: "It took nothing of \(refusals) requests. \(reason)"))
        } else if refusals >= greatestRefusals {
            stop(.unsettled(reason: reason))
        }
    }

    private mutating func stop(_ obstacle: WriteObstacle) {
        if takenSize == nil {
            put([LineSet(refusedAlone.keys)])
            refusedAlone = [:]
        }
        self.obstacle = obstacle
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

    /// Halves a piece of several lines so that both halves have lines, and as many bytes as can be.
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

// MARK: - The account

extension SplitPlan {
    /// The lines that are to be sent again.
    package var undelivered: LineSet { pending.reduce(current) { $0.union($1) } }

    /// The lines that the server will not have, in their order.
    package var rejectedLines: [RejectedLine] {
        rejected.sorted { $0.key < $1.key }.map { RejectedLine(line: batch.text(of: $0.key), reason: $0.value) }
    }
}

/// How large a request may be, as far as a server's refusals tell.
///
/// A limit can be raised, and one that was learnt by mistake must not make a request of each line for ever. So after some
/// requests that were taken it doubles, and each time that turns out to be too much, it waits for four times as many.
package struct SizeLimit: Sendable, Hashable {
    /// A size that was refused; nil for none.
    package private(set) var refused: Int?
    /// How many requests in a row were taken since it was set.
    private var taken = 0
    /// After how many of them it doubles.
    private var patience = leastPatience
    /// Whether it has been doubled since the last refusal.
    private var isTrial = false

    private static let leastPatience = 32
    private static let greatestPatience = 8_192

    package init() {}

    /// Whether so many bytes are likely to be too much.
    package func excludes(_ size: Int) -> Bool { refused.map { size >= $0 } ?? false }

    /// Notes that a request was taken.
    package mutating func noteTaken() {
        guard let refused else { return }
        taken += 1
        guard taken >= patience else { return }
        let (double, isTooLarge) = refused.multipliedReportingOverflow(by: 2)
        self.refused = isTooLarge ? nil : double
        taken = 0
        isTrial = true
    }

    /// Notes that a size was refused, where another one was taken not long ago.
    package mutating func noteRefused(_ size: Int, largestTaken: Int?) {
        if isTrial { patience = min(patience * 4, Self.greatestPatience) }
        // What was taken before cannot have been too large.
        refused = max(min(refused ?? .max, size), (largestTaken ?? 0) + 1)
        taken = 0
        isTrial = false
    }
}
