import Testing

@testable import LoaderChain

/// The budget, the pauses and the kinds of a hedge, which are all bounded.
@Suite(.timeLimit(.minutes(10))) struct HedgeBooksTests {
    private func host(_ number: Int) -> HTTPOrigin { HTTPOrigin(host: "\(number).test", port: nil) }
    private func instant(_ seconds: Int64) -> TimerInstant { TimerInstant(nanoseconds: seconds * 1_000_000_000) }

    @Test func thereAreNeverMoreHedgesThanTheShareOfTheRequests() {
        takeWalks(seeds: 0..<50) { seed in
            var random = SeededGenerator(seed: seed)
            let (ratio, burst) = (Int.random(in: 0...100, using: &random), Int.random(in: 0...12, using: &random))
            var share = HedgeShare(share: Double(ratio) / 100, burst: burst)
            var (requests, taken, savedHundredths) = (0, 0, 0)
            for _ in 0..<200 {
                switch Int.random(in: 0..<8, using: &random) {
                case 0:
                    let isThere = savedHundredths >= 100
                    if share.take() != isThere { return "took \(!isThere) of \(savedHundredths)" }
                    if isThere {
                        savedHundredths -= 100
                        taken += 1
                    }
                case 1 where taken > 0:
                    share.giveBack()
                    savedHundredths = min(burst * 100, savedHundredths + 100)
                    taken -= 1
                default:
                    share.noteRequest()
                    requests += 1
                    savedHundredths = min(burst * 100, savedHundredths + ratio)
                }
                if taken * 100 > requests * ratio { return "\(taken) of \(requests)" }
                if share.remaining != savedHundredths / 100 { return "\(share.remaining) remain" }
            }
            return nil
        }
    }

    @Test(arguments: [Double.nan, -1, .infinity, 1e300]) func noSettingTraps(number: Double) {
        for count in [Int.min, 0, Int.max] {
            for time in [Duration.seconds(Int64.min), .zero, .seconds(Int64.max)] {
                let settings = Hedge.Settings(
                    quantile: number, share: number, burst: count, minimumNumberOfSamples: count, minimumDelay: time,
                    maximumDelay: time, pause: time, maximumPause: time)
                var books = HedgeBooks(settings)
                var delay = HedgeDelay()
                _ = delay.delay(settings)
                delay.record(.seconds(1), isCensored: false)
                _ = delay.delay(settings)
                books.pause(host(1), until: instant(0).advanced(by: settings.pause), at: instant(0))
                _ = books.takeHedge(to: host(1), timeLeft: nil, usualTime: nil, at: instant(0))
            }
        }
    }

    @Test func aPauseEndsAndTheLongerOfTwoCounts() {
        var pauses = HedgePauses()
        pauses.pause(host(1), until: instant(10), at: instant(0))
        pauses.pause(host(1), until: instant(5), at: instant(1))
        #expect(pauses.isPaused(host(1), at: instant(9)))
        #expect(!pauses.isPaused(host(1), at: instant(10)))
        #expect(!pauses.isPaused(host(2), at: instant(0)))
    }

    @Test func soManyPausesThatTheyAreNotKeptApartPauseEverything() {
        var pauses = HedgePauses()
        for number in 0..<(3 * HedgePauses.mostHosts) {
            pauses.pause(host(number), until: instant(10), at: instant(0))
            #expect(pauses.isPaused(host(number), at: instant(9)))
        }
        #expect(pauses.count == HedgePauses.mostHosts)
        #expect(pauses.isPaused(host(-1), at: instant(9)))
        #expect(!pauses.isPaused(host(-1), at: instant(10)))
        // Those that are over make room.
        pauses.pause(host(-2), until: instant(20), at: instant(10))
        #expect(pauses.count == 1 && pauses.isPaused(host(-2), at: instant(19)))
        #expect(!pauses.isPaused(host(-1), at: instant(11)))
    }

    @Test func theReasonsComeInOrder() {
        var books = HedgeBooks(Hedge.Settings(share: 1, burst: 1))
        func take(timeLeft: Duration? = nil) -> Hedge.Suppression? {
            books.takeHedge(to: host(1), timeLeft: timeLeft, usualTime: .seconds(2), at: instant(0))
        }
        #expect(take() == .budget)
        books.giveBack()
        #expect(take(timeLeft: .seconds(1)) == .deadline)
        #expect(take(timeLeft: .seconds(2)) == nil)
        books.pause(host(1), until: instant(1), at: instant(0))
        #expect(take(timeLeft: .seconds(1)) == .pushback)
    }

    @Test func aServerThatIsSlowAsAWholeIsNotHedged() {
        let settings = Hedge.Settings()
        var delay = HedgeDelay()
        // One slow request in ten is no more than chance may bring.
        for number in 0..<200 {
            let areAllSlow = number % 10 == 0 && delay.noteSlow(settings)
            #expect(!areAllSlow, "\(number)")
            delay.record(.seconds(1), isCensored: false)
        }
        let row = (0..<20).map { _ in delay.noteSlow(settings) }
        #expect(row.firstIndex(of: true).map { (3...8).contains($0) } ?? false, "\(row)")
        #expect(row.last == true)
        for _ in 0..<100 { delay.record(.seconds(1), isCensored: false) }
        let isForgotten = !delay.noteSlow(settings)
        #expect(isForgotten)
        // Where every second request may be hedged, no share is too large.
        let halves = (0..<1_000).map { _ in delay.noteSlow(Hedge.Settings(quantile: 0.5)) }
        #expect(!halves.contains(true))
    }

    @Test func theKindsThatWereUsedLastAreKept() {
        takeWalks(seeds: 0..<30) { seed in
            var random = SeededGenerator(seed: seed)
            var table = RecentTable<Int, Int>(capacity: 8)
            var uses: [Int] = []
            var made: [Int: Int] = [:]
            for step in 0..<300 {
                let key = Int.random(in: 0..<20, using: &random)
                var recent: Set<Int> = []
                for use in uses.reversed() where recent.count < 4 { recent.insert(use) }
                var isNew = false
                let value = table.value(of: key) {
                    isNew = true
                    return step
                }
                if isNew, recent.contains(key) { return "\(key) was forgotten in step \(step)" }
                if isNew { made[key] = step }
                if value != made[key] { return "\(key) has \(value)" }
                if table.count > 8 { return "\(table.count) keys" }
                uses.append(key)
            }
            table.removeAll()
            return table.count == 0 ? nil : "not empty"
        }
    }
}
