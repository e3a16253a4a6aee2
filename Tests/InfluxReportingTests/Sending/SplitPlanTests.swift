import LoaderChain
import Testing

@testable import InfluxReporting

/// The plan with a simulated server, and its outcome compared with the server's data.
@Suite(.timeLimit(.minutes(10))) struct SplitPlanTests {
    @Test(arguments: [1, 2, 3, 4, 5, 7, 8, 9, 16, 100, 1_000, 1_023, 1_024, 1_025])
    func badLineIsFoundInLogarithmicRequests(_ count: Int) {
        let lines = batch(goodLines(count))
        let bound = 2 * logarithm(count) + 1
        for bad in count < 200 ? Array(0..<count) : [0, 1, count / 3, count / 2, count - 2, count - 1] {
            var server = NaiveServer(bad: [bad])
            let plan = server.run(lines)
            #expect(server.requests <= bound, "\(server.requests) requests for line \(bad) of \(count)")
            #expect(plan.rejectedLines.map(\.line) == [lines.text(of: bad)])
            #expect(plan.delivered == LineSet(0..<count).subtracting(LineSet([bad])))
            #expect(plan.undelivered.isEmpty && plan.failure == nil)
        }
    }

    @Test func badLineOfTenThousandIsFoundInFewRequests() {
        let lines = batch(goodLines(10_000))
        for bad in [0, 4_999, 5_000, 7_777, 9_999] {
            var server = NaiveServer(bad: [bad])
            let plan = server.run(lines)
            #expect(server.requests <= 29)
            #expect(plan.rejectedLines.count == 1 && plan.delivered.count == 9_999)
        }
    }

    @Test(arguments: [1, 2, 3, 10, 100, 1_000, 10_000])
    func refusalOfAllLinesCostsBoundedRequests(_ count: Int) {
        var server = NaiveServer(refusesAll: true)
        let plan = server.run(batch(goodLines(count)))
        #expect(server.requests <= plan.patience)
        // A few lines are sent one by one, and then known to be bad; many lines stay pending.
        #expect(plan.rejectedLines.count + plan.undelivered.count == count)
        if count >= 100 {
            #expect(plan.undelivered.count == count)
            guard case .refused? = plan.failure else {
                return void(Issue.record("\(String(describing: plan.failure))"))
            }
        } else if count <= 2 {
            #expect(plan.rejectedLines.count == count)
        }
    }

    @Test(arguments: [1, 2, 10, 1_000, 10_000]) func planFailsIfEverySizeIsTooLarge(_ count: Int) {
        var server = NaiveServer(limit: 0)
        let plan = server.run(batch(goodLines(count)))
        #expect(server.requests <= plan.patience)
        #expect(plan.undelivered.count == count)
        guard case .refused(.contentTooLarge?, _)? = plan.failure else {
            // With many lines, the plan stops before any of them is sent alone.
            guard count > 10, case .refused(nil, _)? = plan.failure else {
                return void(Issue.record("\(String(describing: plan.failure))"))
            }
            return
        }
    }

    /// Every server accepts some kilobytes, so the size is not the cause.
    @Test(arguments: [1, 2, 16, 100]) func longLinesStayUndeliveredIfEverySizeIsTooLarge(_ count: Int) {
        var server = NaiveServer(limit: 0)
        let lines = goodLines(count).map { $0 + String(repeating: "x", count: 1_500) }
        let plan = server.run(batch(lines))
        #expect(plan.rejectedLines.isEmpty && plan.undelivered.count == count && plan.failure != nil)
    }

    @Test func lineAboveSizeLimitIsRejected() {
        var server = NaiveServer(limit: 50_000)
        let plan = server.run(batch([String(repeating: "x", count: 60_000)]))
        #expect(plan.rejectedLines.count == 1 && plan.failure == nil)
    }

    @Test func bodyLimitIsFoundByHalving() {
        let lines = batch(goodLines(10_000))
        var server = NaiveServer(limit: 20_000)
        let plan = server.run(lines)
        #expect(plan.delivered.count == 10_000)
        let pieces = (lines.bytes.count + 19_999) / 20_000
        // No piece is smaller than half of the limit, and only one piece of each excessive size is sent.
        #expect(server.requests <= 2 * pieces + logarithm(lines.bytes.count / 20_000) + 1)
        #expect((plan.limit.refused ?? 0) > 20_000)

        // A plan that knows the limit gets no refusals.
        var second = NaiveServer(limit: 20_000)
        _ = second.run(lines, limit: plan.limit)
        #expect(second.refusals <= 1)
    }

    /// A limit that was learned by mistake does not split batches into single lines.
    @Test func learnedLimitGrowsAgain() {
        var limit = SizeLimit()
        limit.noteRefused(1, largestTaken: nil)
        var server = NaiveServer()
        let plan = server.run(batch(goodLines(100_000)), limit: limit)
        #expect(plan.delivered.count == 100_000)
        #expect(server.requests < 900)
    }

    @Test func constantLimitIsProbedLessOften() {
        var (limit, refusals) = (SizeLimit(), 0)
        limit.noteRefused(10_000, largestTaken: 4_000)
        for _ in 0..<20_000 {
            if limit.excludes(10_000) {
                limit.noteTaken()
            } else {
                limit.noteRefused(10_000, largestTaken: 4_000)
                refusals += 1
            }
        }
        #expect((3...7).contains(refusals))
    }

    @Test func overflowingLimitIsRemoved() {
        var limit = SizeLimit()
        limit.noteRefused(.max / 2 + 10, largestTaken: nil)
        for _ in 0..<100 { limit.noteTaken() }
        #expect(limit.refused == nil && !limit.excludes(.max))
    }

    @Test func overlongLineIsRejectedAlone() {
        var text = goodLines(100)
        text[40] = "m f=\"\(String(repeating: "x", count: 5_000))\" 40"
        var server = NaiveServer(limit: 4_000)
        let plan = server.run(batch(text))
        #expect(plan.rejectedLines.map(\.line) == [text[40]])
        #expect(plan.delivered.count == 99 && plan.failure == nil)
    }

    @Test func namedLinesAreLeftOutOfNextRequest() {
        var server = NaiveServer(bad: [3, 50, 51, 99], namesAll: true)
        let plan = server.run(batch(goodLines(100)))
        #expect(server.requests == 2)
        #expect(plan.rejectedLines.count == 4 && plan.delivered.count == 96)
    }

    @Test func suspectIsTriedAlone() {
        var server = NaiveServer(bad: [700], pointsAt: { $0 })
        let plan = server.run(batch(goodLines(1_000)))
        #expect(server.requests == 3)
        #expect(plan.rejectedLines.count == 1 && plan.delivered.count == 999)
    }

    @Test func wrongSuspectIsTriedOnlyOnce() {
        var server = NaiveServer(bad: [700], pointsAt: { $0 + 1 })
        let lines = batch(goodLines(1_000))
        let plan = server.run(lines)
        #expect(server.requests <= 2 * logarithm(1_000) + 1 + 2)
        #expect(plan.rejectedLines.map(\.line) == [lines.text(of: 700)])
    }

    @Test func interruptionKeepsDeliveredLines() {
        var server = NaiveServer(bad: [0], failsAfter: 3)
        let plan = server.run(batch(goodLines(64)))
        #expect(plan.delivered == LineSet(32..<64))
        #expect(plan.undelivered == LineSet(0..<32))
        #expect(plan.failure == .interrupted)
        #expect(plan.rejectedLines.isEmpty)
    }

    @Test func emptyBatchNeedsNoRequest() {
        var plan = SplitPlan(batch([]))
        #expect(plan.next() == nil)
        #expect(plan.failure == nil && plan.delivered.isEmpty)
    }

    /// Servers of many kinds: each line has one outcome, and the servers store exactly the lines that are counted as delivered.
    @Test(arguments: 0..<60 as Range<UInt64>) func everyLineHasOneOutcome(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<25 {
            let count = Int.random(in: 1...(Bool.random(using: &generator) ? 12 : 400), using: &generator)
            let lines = batch(goodLines(count))
            let badCount = [0, 0, 1, 1, 2, 5, count / 2, count].randomElement(using: &generator) ?? 0
            let bad = Set((0..<count).shuffled(using: &generator).prefix(badCount))
            var server = NaiveServer(
                bad: bad,
                limit: Int.random(in: 0..<3, using: &generator) == 0
                    ? Int.random(in: 10...2_000, using: &generator) : nil,
                namesAll: Int.random(in: 0..<4, using: &generator) == 0,
                pointsAt: Int.random(in: 0..<4, using: &generator) == 0 ? { $0 + Int(seed % 3) - 1 } : nil,
                storesGood: Int.random(in: 0..<4, using: &generator) == 0,
                failsAfter: Int.random(in: 0..<4, using: &generator) == 0
                    ? Int.random(in: 0...20, using: &generator) : nil)
            if Bool.random(using: &generator) { server.moods = SeededGenerator(seed: seed) }
            let plan = server.run(lines)
            let rejected = LineSet(
                plan.rejectedLines.compactMap { line in (0..<count).first { lines.text(of: $0) == line.line } })
            let unnamed = plan.unnamedRejections.reduce(0) { $0 + $1.count }

            // Each line has exactly one outcome, which is right.
            #expect(plan.delivered.count + rejected.count + plan.undelivered.count == count, "seed \(seed)")
            #expect(plan.delivered.union(rejected).union(plan.undelivered) == LineSet(0..<count), "seed \(seed)")
            #expect(rejected.lines.allSatisfy { bad.contains($0) || server.limit != nil }, "seed \(seed)")
            #expect(
                plan.delivered.lines.allSatisfy { server.stored.contains($0) || (unnamed > 0 && bad.contains($0)) },
                "seed \(seed)")
            #expect((plan.failure == nil) == plan.undelivered.isEmpty, "seed \(seed)")
            #expect(server.refusals <= plan.greatestRefusals, "seed \(seed)")
            if server.limit == nil {
                #expect(server.requests <= 2 * server.refusals + 1, "seed \(seed)")
                if badCount == 1, server.failsAfter == nil { #expect(plan.failure == nil, "seed \(seed)") }
            }
        }
    }

    private func logarithm(_ count: Int) -> Int {
        var (power, exponent) = (1, 0)
        while power < count { (power, exponent) = (power * 2, exponent + 1) }
        return exponent
    }

    private func void(_ value: some Any) {}
}

/// A simulated server, which accepts a request or reports an error.
struct NaiveServer {
    /// The lines that it rejects, by their numbers in the batch.
    var bad: Set<Int> = []
    var refusesAll = false
    /// The maximum number of bytes of a request.
    var limit: Int?
    /// Whether it names all bad lines of a request.
    var namesAll = false
    /// The position in a request that it reports, as a function of the first bad position.
    var pointsAt: ((Int) -> Int)?
    /// Whether it stores the good lines of a request that has bad ones.
    var storesGood = false
    /// The number of requests after which it fails.
    var failsAfter: Int?
    /// Whether it handles bad lines differently from one request to the next.
    var moods: SeededGenerator?

    private(set) var requests = 0
    private(set) var refusals = 0
    private(set) var stored: Set<Int> = []

    mutating func run(_ batch: LineBatch, limit: SizeLimit = SizeLimit()) -> SplitPlan {
        var plan = SplitPlan(batch, limit: limit)
        while let lines = plan.next() {
            requests += 1
            plan.take(answer(Array(lines.lines), size: batch.byteCount(of: lines)))
        }
        return plan
    }

    private mutating func answer(_ lines: [Int], size: Int) -> SplitPlan.Answer {
        if let failsAfter, requests > failsAfter { return .failed(.interrupted) }
        if let limit, size > limit {
            refusals += 1
            return .tooLarge(reason: "too large")
        }
        let badPlaces = lines.indices.filter { refusesAll || bad.contains(lines[$0]) }
        guard let first = badPlaces.first else {
            stored.formUnion(lines)
            return .delivered
        }
        if var moods {
            (namesAll, storesGood) = (Bool.random(using: &moods), Bool.random(using: &moods))
            self.moods = moods
        }
        let named = badPlaces.map { ComplaintMatch.Named(line: $0, reason: "bad") }
        if storesGood {
            stored.formUnion(Set(lines).subtracting(bad))
            return namesAll
                ? .partlyDelivered(named, unnamedCount: 0, reason: "bad")
                : .partlyDelivered([], unnamedCount: badPlaces.count, reason: "bad")
        }
        refusals += 1
        if namesAll { return .refusedNaming(named) }
        return .refused(suspect: pointsAt?(first), reason: "bad")
    }
}
