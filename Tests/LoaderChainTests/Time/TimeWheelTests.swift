import LoaderChain
import Testing

@Suite(.timeLimit(.minutes(10))) struct TimeWheelTests {
    @Test func `an empty wheel has nothing to hand out, and its present follows`() {
        let wheel = TimerWheel<Numbered>(present: 5)
        #expect(wheel.nextExpiry == nil)
        #expect(wheel.advance(to: 1_000) == nil)
        #expect(wheel.present == 1_000)
        #expect(wheel.advance(to: 10) == nil)
        #expect(wheel.present == 1_000)
    }

    @Test func `around every level boundary, an entry falls due at its deadline and not a tick before`() {
        for start in Ticks.boundaries {
            for deadline in Ticks.boundaries where deadline > start {
                let wheel = TimerWheel<Numbered>(present: start)
                wheel.insert(Numbered(1), at: deadline)
                #expect(wheel.advance(to: deadline - 1) == nil, "from \(start) to \(deadline)")
                #expect(wheel.count == 1)
                #expect(wheel.advance(to: deadline)?.number == 1, "from \(start) to \(deadline)")
                #expect(wheel.present == deadline)
                #expect(wheel.count == 0 && wheel.nextExpiry == nil)
            }
        }
    }

    @Test func `around every level boundary, entries inserted in reverse come out in order`() {
        let wheel = TimerWheel<Numbered>(present: 0)
        for (number, tick) in Ticks.boundaries.enumerated().reversed() { wheel.insert(Numbered(number), at: tick) }
        let numbers = wheel.drain(to: .max).map(\.number)
        #expect(numbers == Array(Ticks.boundaries.indices))
    }

    @Test func `entries of one deadline come in the order of insertion, from however far they were inserted`() {
        for deadline in Ticks.boundaries {
            let wheel = TimerWheel<Numbered>(present: 0)
            var inserted: [Int] = []
            for present in Ticks.boundaries where present < deadline {
                _ = wheel.advance(to: present)
                inserted.append(inserted.count)
                wheel.insert(Numbered(inserted.count - 1), at: deadline)
            }
            #expect(wheel.drain(to: deadline).map(\.number) == inserted, "\(deadline)")
        }
    }

    @Test func `a deadline in the past is due at the present`() {
        let wheel = TimerWheel<Numbered>(present: 100)
        wheel.insert(Numbered(1), at: 99)
        wheel.insert(Numbered(2), at: 0)
        #expect(wheel.nextExpiry == 100)
        #expect(wheel.drain(to: 100).map(\.number) == [1, 2])
    }

    @Test func `catching up skips empty time and stops where something is to be done`() {
        let wheel = TimerWheel<Numbered>(present: 0)
        wheel.catchUp(with: 1_000_000)
        #expect(wheel.present == 1_000_000)
        wheel.insert(Numbered(1), at: 1_000_010)
        wheel.catchUp(with: 1_000_009)
        #expect(wheel.present == 1_000_009)
        wheel.catchUp(with: 1_000_010)
        #expect(wheel.present == 1_000_009)
        wheel.catchUp(with: 3)
        #expect(wheel.present == 1_000_009)
    }

    @Test func `an entry can be removed once, and inserted again`() {
        let wheel = TimerWheel<Numbered>(present: 0)
        let entry = Numbered(1)
        wheel.insert(entry, at: 4_096)
        #expect(wheel.remove(entry))
        #expect(!wheel.remove(entry))
        #expect(wheel.nextExpiry == nil)
        wheel.insert(entry, at: 10)
        #expect(wheel.drain(to: 10).map(\.number) == [1])
        #expect(!wheel.remove(entry))
    }

    @Test func `the wheel owns what waits and nothing else`() {
        var wheel: TimerWheel<Numbered>? = TimerWheel(present: 0)
        weak var removed: Numbered?
        weak var expired: Numbered?
        weak var dropped: Numbered?
        do {
            let entries = (0..<3).map(Numbered.init)
            (removed, expired, dropped) = (entries[0], entries[1], entries[2])
            for entry in entries { wheel?.insert(entry, at: 70 + UInt64(entry.number)) }
            #expect(wheel?.remove(entries[0]) == true)
            #expect(wheel?.advance(to: 71)?.number == 1)
        }
        #expect(removed == nil)
        #expect(expired == nil)
        #expect(dropped != nil)
        wheel = nil
        #expect(dropped == nil)
    }

    @Test func `very many entries of one slot are let go of without recursion`() {
        let wheel = TimerWheel<Numbered>(present: 0)
        for number in 0..<250_000 { wheel.insert(Numbered(number), at: 1 << 20) }
        #expect(wheel.count == 250_000)
    }
}

/// Walks of random steps, each compared with a plain array.
@Suite(.timeLimit(.minutes(10))) struct TimeWheelWalkTests {
    @Test(arguments: 0..<20) func `random walks agree with a sorted array`(group: UInt64) {
        for seed in (group * 200)..<(group * 200 + 200) {
            let walk = Walk(seed: seed)
            guard walk.run(steps: 120) else {
                Issue.record("seed \(seed): \(walk.fault)")
                return
            }
        }
    }
}

private final class Walk {
    private(set) var fault = ""
    private var dice: SeededGenerator
    private let wheel: TimerWheel<Numbered>
    /// What should wait, in the order of insertion, by deadline as the wheel should see it.
    private var model: [(deadline: UInt64, entry: Numbered)] = []
    private var gone: [Numbered] = []
    private var present: UInt64
    private var nextNumber = 0

    init(seed: UInt64) {
        dice = SeededGenerator(seed: seed)
        present = Bool.random(using: &dice) ? 0 : dice.next() >> UInt64.random(in: 0..<64, using: &dice)
        wheel = TimerWheel(present: present)
    }

    func run(steps: Int) -> Bool {
        for _ in 0..<steps {
            switch Int.random(in: 0..<10, using: &dice) {
            case 0..<5: insert()
            case 5..<7: remove()
            case 7: catchUp()
            default: advance(by: distance(), disturbed: Bool.random(using: &dice))
            }
            check()
            if !fault.isEmpty { return false }
        }
        advance(by: .max, disturbed: false)
        expect(wheel.count == 0, "something is left at the end")
        return fault.isEmpty
    }

    /// Short, or long, or up to the next boundary of some level.
    private func distance() -> UInt64 {
        switch Int.random(in: 0..<4, using: &dice) {
        case 0: UInt64.random(in: 0...3, using: &dice)
        case 1: UInt64.random(in: 0...200, using: &dice)
        case 2:
            (~present & (1 << UInt64.random(in: 0..<64, using: &dice) - 1)) &+ UInt64.random(in: 0...2, using: &dice)
        default: dice.next() >> UInt64.random(in: 0..<64, using: &dice)
        }
    }

    private func insert() {
        let known = model.randomElement(using: &dice)?.deadline
        let deadline =
            switch (Int.random(in: 0..<8, using: &dice), known) {
            case (0, _): present - min(present, distance())
            case (1...2, let known?): known
            default: present.addingSaturating(distance())
            }
        let entry = Numbered(nextNumber)
        nextNumber += 1
        wheel.insert(entry, at: deadline)
        model.append((max(deadline, present), entry))
    }

    private func remove() {
        if let entry = gone.randomElement(using: &dice) {
            expect(!wheel.remove(entry), "\(entry.number) is gone and was removed")
        }
        guard let index = model.indices.randomElement(using: &dice) else { return }
        let entry = model.remove(at: index).entry
        expect(wheel.remove(entry), "\(entry.number) waits and was not removed")
        gone.append(entry)
    }

    private func catchUp() {
        let tick = present.addingSaturating(distance())
        wheel.catchUp(with: tick)
        expect(wheel.present == present || wheel.present == tick, "the present caught up halfway")
        if let earliest { expect(wheel.present < earliest || wheel.present == present, "caught up past \(earliest)") }
        present = wheel.present
    }

    private func advance(by distance: UInt64, disturbed: Bool) {
        let target = present.addingSaturating(distance)
        while let entry = wheel.advance(to: target) {
            let due = earliest ?? .max
            let first = model.firstIndex { $0.deadline == due }
            guard let first, due <= target, model[first].entry === entry else {
                return expect(false, "\(entry.number) came by \(target) out of turn")
            }
            expect(wheel.present == due && entry.link.deadline == due, "\(entry.number) came at \(wheel.present)")
            gone.append(model.remove(at: first).entry)
            present = due
            if disturbed, Int.random(in: 0..<3, using: &dice) == 0 { Bool.random(using: &dice) ? insert() : remove() }
        }
        present = target
        expect(wheel.present == target, "the present is \(wheel.present), not \(target)")
        if let earliest { expect(earliest > target, "something due at \(earliest) did not come by \(target)") }
    }

    private var earliest: UInt64? { model.lazy.map(\.deadline).min() }

    private func check() {
        expect(wheel.count == model.count, "\(wheel.count) wait, not \(model.count)")
        expect((wheel.nextExpiry == nil) == model.isEmpty, "next expiry: \(String(describing: wheel.nextExpiry))")
        if let earliest, let next = wheel.nextExpiry {
            expect((present...earliest).contains(next), "next expiry \(next), present \(present), due \(earliest)")
        }
    }

    private func expect(_ isTrue: Bool, _ message: @autoclosure () -> String) {
        if !isTrue, fault.isEmpty { fault = message() }
    }
}

private enum Ticks {
    /// The neighbourhood of 0 and of each power of 64, its multiples, and the end of all ticks.
    static let boundaries: [UInt64] = {
        var ticks: Set<UInt64> = [0, 1, 2, .max - 1, .max]
        for level in 1...10 {
            let power: UInt64 = 1 << (6 * level)
            for tick in [power, 2 * power, 63 * (power / 64) + power] { ticks.formUnion([tick - 1, tick, tick + 1]) }
        }
        return ticks.sorted()
    }()
}

private final class Numbered: TimerWheelEntry {
    let number: Int
    var link = TimerWheelLink<Numbered>()

    init(_ number: Int) {
        self.number = number
    }
}

extension TimerWheel {
    fileprivate func drain(to tick: UInt64) -> [Entry] {
        var entries: [Entry] = []
        while let entry = advance(to: tick) { entries.append(entry) }
        return entries
    }
}

extension UInt64 {
    fileprivate func addingSaturating(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
