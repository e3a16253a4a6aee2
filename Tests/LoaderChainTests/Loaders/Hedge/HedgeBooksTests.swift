import Testing

@testable import LoaderChain

/// The budget, the pauses and the kinds of a hedge, which are all bounded.
@Suite(.timeLimit(.minutes(10))) struct HedgeBooksTests {
    private func host(_ number: Int) -> HTTPOrigin { HTTPOrigin(host: "\(number).test", port: nil) }
    private func instant(_ seconds: Int64) -> TimerInstant { TimerInstant(nanoseconds: seconds * 1_000_000_000) }

    @Test func hedgesNeverExceedShareOfRequests() {
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

    @Test(arguments: [Double.nan, -1, .infinity, 1e300]) func extremeSettingsDoNotTrap(number: Double) {
        for count in [Int.min, 0, Int.max] {
            for time in [Duration.seconds(Int64.min), .zero, .seconds(Int64.max)] {
                let settings = Hedge.Settings(
                    quantile: number, share: number, burst: count, minimumNumberOfSamples: count, minimumDelay: time,
                    maximumDelay: time, pause: time, maximumPause: time)
                var books = HedgeBooks(settings)
                var delay = HedgeDelay()
                _ = delay.delay(settings)
                delay.record(.seconds(1), isCensored: false, wasSlow: delay.noteSlow(settings))
                _ = delay.delay(settings)
                books.pause(host(1), until: instant(0).advanced(by: settings.pause), at: instant(0))
                _ = books.takeHedge(to: host(1), timeLeft: nil, usualTime: nil, at: instant(0))
            }
        }
    }

    @Test func pauseEndsAndLongerOfTwoApplies() {
        var books = HedgeBooks(Hedge.Settings(share: 1, burst: 1_000))
        func isPaused(_ number: Int, _ second: Int64) -> Bool {
            books.takeHedge(to: host(number), timeLeft: nil, usualTime: nil, at: instant(second)) == .pushback
        }
        books.pause(host(1), until: instant(10), at: instant(0))
        books.pause(host(1), until: instant(5), at: instant(1))
        #expect(isPaused(1, 9) && !isPaused(1, 10) && !isPaused(2, 0))
    }

    @Test func suppressionReasonsAreCheckedInOrder() {
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

    @Test func uniformlySlowServerIsNotHedged() {
        let settings = Hedge.Settings()
        var delay = HedgeDelay()
        // One slow request in ten is no more than chance may bring.
        for number in 0..<200 {
            let isSlow = number % 10 == 0
            let areAllSlow = isSlow && delay.noteSlow(settings)
            #expect(!areAllSlow, "\(number)")
            delay.record(.seconds(1), isCensored: false, wasSlow: isSlow)
        }
        let row = (0..<20).map { _ in delay.noteSlow(settings) }
        #expect(row.firstIndex(of: true).map { (3...8).contains($0) } ?? false, "\(row)")
        #expect(row.last == true)
        for _ in 0..<100 { delay.record(.seconds(1), isCensored: false, wasSlow: false) }
        let isForgotten = !delay.noteSlow(settings)
        #expect(isForgotten)
    }

    /// A server whose times vary, and which then takes five times as long for all.
    @Test(arguments: [0.1, 0.5, 0.7, 0.8, 0.87, 0.9, 0.95, 0.99, 1])
    func uniformlySlowServerIsDetectedAtEachQuantile(quantile: Double) {
        var random = SeededGenerator(seed: 4)
        let settings = Hedge.Settings(quantile: quantile, maximumDelay: .seconds(100))
        var delay = HedgeDelay()
        /// Whether a request would not be hedged; nil if it is not slow.
        func request(_ times: ClosedRange<Double>) -> Bool? {
            let time = Duration.seconds(Double.random(in: times, using: &random))
            let isSlow = delay.delay(settings).map { time >= $0 } ?? false
            defer { delay.record(time, isCensored: false, wasSlow: isSlow) }
            return isSlow ? delay.noteSlow(settings) : nil
        }
        for _ in 0..<100 { _ = request(0.5...1.5) }
        let usual = (0..<1_000).compactMap { _ in request(0.5...1.5) }
        #expect(usual.count(where: \.self) <= 20, "\(usual.count(where: \.self)) of \(usual.count)")
        // Noticed before the quantile has followed, which takes a high one fewer requests.
        let slow = (0..<60).compactMap { _ in request(2.5...7.5) }
        #expect(slow.contains(true), "none of \(slow.count)")
        // The times that are usual now do not stay suspicious.
        for _ in 0..<1_000 { _ = request(2.5...7.5) }
        let later = (0..<500).compactMap { _ in request(2.5...7.5) }
        #expect(later.count(where: \.self) <= 10, "\(later.count(where: \.self)) of \(later.count)")
    }

    @Test func recentTableKeepsRecentlyUsedKeys() {
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
