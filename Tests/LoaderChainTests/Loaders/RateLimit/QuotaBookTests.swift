import Testing

@testable import LoaderChain

/// Random walks of a client and a server that counts, whose messages overtake each other.
@Suite(.timeLimit(.minutes(10))) struct QuotaBookTests {
    @Test(arguments: 0..<10) func serverNeverRefusesWhileNobodyElseAsks(group: UInt64) {
        takeWalks(group: group) { seed in
            var walk = QuotaWalk(seed: seed)
            return walk.run()
        }
    }

    @Test func quotaWithoutTimeIsLookedAtTenTimesPerSecond() {
        var now = TimerInstant(nanoseconds: 0)
        var book = QuotaBook(.init(), at: now)
        let report = QuotaReport(name: "", remaining: 0, timeLeft: .zero, rounding: .zero)
        book.note(
            .init(number: 0, expectedCost: 1, cost: 1, wasSent: true, wasAnswered: true, reports: [report]), at: now)
        // A request that is not answered, and another that waits for it.
        _ = book.pass(1, at: now)
        var looks = 0
        while now < TimerInstant(nanoseconds: 10_000_000_000), looks < 1_000 {
            now = max(book.turn(for: 1, at: now), now.advanced(by: .nanoseconds(1)))
            looks += 1
        }
        #expect((10...101).contains(looks))
    }
}

private struct QuotaWalk {
    private var random: SeededGenerator
    private var now: Int64 = 0
    private var book: QuotaBook
    private let limit: Int64
    private let window: Int64
    private let counts: QuotaReport.Unit
    private var serverWindow: Int64 = 0
    private var left: Int64
    private let longestWay: Int64
    private var onTheirWay: [Message] = []

    /// A request before the server has it, or its response before the client has that.
    private struct Message {
        var number: UInt64
        var cost: Int64
        var arrival: Int64
        /// The server's report, once it has the request.
        var reports: [QuotaReport]?
    }

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        limit = Int64.random(in: 1...20, using: &random)
        window = Int64.random(in: 500...5_000, using: &random) * 1_000_000
        counts = Bool.random(using: &random) ? .requests : .cost
        left = limit
        longestWay = Bool.random(using: &random) ? 20_000_000 : window / 4
        book = QuotaBook(
            .init(usableBurst: Double(Int.random(in: 0...4, using: &random)) / 4), at: TimerInstant(nanoseconds: 0))
    }

    mutating func run() -> String? {
        // Before the first report, nobody can know the quota.
        send(1)
        while !onTheirWay.isEmpty { if let fault = receive() { return fault } }
        for _ in 0..<60 {
            if Int.random(in: 0..<3, using: &random) == 0, let fault = receive() { return fault }
            now += Int64.random(in: 0...(window / 10), using: &random)
            // No message takes half of a window.
            while onTheirWay.contains(where: { $0.arrival < now - window / 8 }) {
                if let fault = receive() { return fault }
            }
            let cost = counts == .cost ? Int64.random(in: 1...limit, using: &random) : 1
            let turn = book.turn(for: cost, at: instant)
            guard turn <= instant.advanced(by: .nanoseconds(window * 2)) else { return "it waits until \(turn)" }
            if turn <= instant { send(cost) }
        }
        while !onTheirWay.isEmpty { if let fault = receive() { return fault } }
        // After a quiet time, the whole of the quota is there.
        for _ in 0..<2 {
            now += 2 * window
            _ = book.turn(for: limit, at: instant)
        }
        return book.turn(for: counts == .cost ? limit : 1, at: instant) <= instant ? nil : "it waits after a quiet time"
    }

    private var instant: TimerInstant { TimerInstant(nanoseconds: now) }

    private mutating func send(_ cost: Int64) {
        let number = book.pass(cost, at: instant)
        onTheirWay.append(Message(number: number, cost: cost, arrival: now + delay()))
    }

    private mutating func delay() -> Int64 { Int64.random(in: 0...longestWay, using: &random) }

    /// Lets the next message arrive.
    private mutating func receive() -> String? {
        guard let index = onTheirWay.indices.min(by: { onTheirWay[$0].arrival < onTheirWay[$1].arrival }) else {
            return nil
        }
        var message = onTheirWay.remove(at: index)
        now = max(now, message.arrival)
        if let reports = message.reports {
            book.note(
                .init(
                    number: message.number, expectedCost: message.cost, cost: message.cost, wasSent: true,
                    wasAnswered: true,
                    reports: reports), at: instant)
            return nil
        }
        if now / window != serverWindow { (serverWindow, left) = (now / window, limit) }
        left -= counts == .cost ? message.cost : 1
        guard left >= 0 else { return "the server has to refuse number \(message.number) in window \(serverWindow)" }
        message.reports = [
            QuotaReport(
                name: "", unit: counts, remaining: left, limit: limit,
                timeLeft: .nanoseconds((serverWindow + 1) * window - now), window: nil, rounding: .zero)
        ]
        message.arrival = now + delay()
        onTheirWay.append(message)
        return nil
    }
}
