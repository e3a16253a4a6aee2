import LoaderChain
import Testing

@Suite(.timeLimit(.minutes(10))) struct TimerWheelTests {
    @Test func emptyWheelAdvancesWithoutElements() {
        var wheel = TimerWheel<Int>(present: 5)
        #expect(wheel.nextExpiry == nil)
        #expect(wheel.advance(to: 1_000) == nil)
        #expect(wheel.present == 1_000)
        #expect(wheel.advance(to: 10) == nil)
        #expect(wheel.present == 1_000)
    }

    @Test func elementIsDueExactlyAtDeadlineAtLevelBoundaries() {
        for start in Ticks.boundaries {
            for deadline in Ticks.boundaries where deadline > start {
                var wheel = TimerWheel<Int>(present: start)
                _ = wheel.insert(1, at: deadline)
                #expect(wheel.advance(to: deadline - 1) == nil, "from \(start) to \(deadline)")
                #expect(wheel.count == 1)
                #expect(wheel.advance(to: deadline) == 1, "from \(start) to \(deadline)")
                #expect(wheel.present == deadline)
                #expect(wheel.count == 0 && wheel.nextExpiry == nil)
            }
        }
    }

    @Test func elementsInsertedInReverseComeOutInOrder() {
        var wheel = TimerWheel<Int>(present: 0)
        for (number, tick) in Ticks.boundaries.enumerated().reversed() { _ = wheel.insert(number, at: tick) }
        #expect(wheel.drain(to: .max) == Array(Ticks.boundaries.indices))
    }

    @Test func elementsOfSameDeadlineComeInInsertionOrder() {
        for deadline in Ticks.boundaries {
            var wheel = TimerWheel<Int>(present: 0)
            var inserted: [Int] = []
            for present in Ticks.boundaries where present < deadline {
                _ = wheel.advance(to: present)
                inserted.append(inserted.count)
                _ = wheel.insert(inserted.count - 1, at: deadline)
            }
            #expect(wheel.drain(to: deadline) == inserted, "\(deadline)")
        }
    }

    @Test func deadlineInThePastIsDueAtPresent() {
        var wheel = TimerWheel<Int>(present: 100)
        _ = wheel.insert(1, at: 99)
        _ = wheel.insert(2, at: 0)
        #expect(wheel.nextExpiry == 100)
        #expect(wheel.drain(to: 100) == [1, 2])
    }

    @Test func catchUpMovesPresentOnlyAcrossEmptyTime() {
        var wheel = TimerWheel<Int>(present: 0)
        wheel.catchUp(with: 1_000_000)
        #expect(wheel.present == 1_000_000)
        _ = wheel.insert(1, at: 1_000_010)
        wheel.catchUp(with: 1_000_009)
        #expect(wheel.present == 1_000_009)
        wheel.catchUp(with: 1_000_010)
        #expect(wheel.present == 1_000_009)
        wheel.catchUp(with: 3)
        #expect(wheel.present == 1_000_009)
    }

    @Test func elementCanBeRemovedOnlyOnce() {
        var wheel = TimerWheel<Int>(present: 0)
        let ticket = wheel.insert(1, at: 4_096)
        #expect(wheel.remove(ticket) == 1)
        #expect(wheel.remove(ticket) == nil)
        #expect(wheel.nextExpiry == nil)
        let other = wheel.insert(2, at: 10)
        #expect(wheel.remove(ticket) == nil)
        #expect(wheel.drain(to: 10) == [2])
        #expect(wheel.remove(other) == nil)
    }

    /// The wheel gives up its places when a burst is over, so a ticket may name a place that there is no more.
    @Test func staleTicketRemovesNoLaterElement() {
        var wheel = TimerWheel<Int>(present: 0)
        let tickets = (0..<1_000).map { wheel.insert($0, at: 70) }
        #expect(wheel.drain(to: 70) == Array(0..<1_000))
        for ticket in tickets { #expect(wheel.remove(ticket) == nil) }
        let later = wheel.insert(1, at: 80)
        for ticket in tickets { #expect(wheel.remove(ticket) == nil) }
        #expect(wheel.remove(later) == 1)
        #expect(wheel.count == 0)
    }

    @Test func wheelOwnsOnlyWaitingElements() {
        var wheel: TimerWheel<Object>? = TimerWheel(present: 0)
        weak var removed: Object?
        weak var expired: Object?
        weak var dropped: Object?
        do {
            let objects = [Object(), Object(), Object()]
            (removed, expired, dropped) = (objects[0], objects[1], objects[2])
            let ticket = wheel?.insert(objects[0], at: 70)
            _ = wheel?.insert(objects[1], at: 71)
            _ = wheel?.insert(objects[2], at: 72)
            #expect(ticket.map { wheel?.remove($0) === objects[0] } == true)
            #expect(wheel?.advance(to: 71) === objects[1])
        }
        #expect(removed == nil)
        #expect(expired == nil)
        #expect(dropped != nil)
        wheel = nil
        #expect(dropped == nil)
    }

    @Test func copyOfWheelIsIndependent() {
        var wheel = TimerWheel<Int>(present: 0)
        let ticket = wheel.insert(1, at: 10)
        var copy = wheel
        #expect(copy.remove(ticket) == 1)
        #expect(wheel.count == 1)
        #expect(wheel.drain(to: 10) == [1])
    }

    @Test func manyElementsOfOneSlotAreReleasedWithoutRecursion() {
        var wheel = TimerWheel<Object>(present: 0)
        for _ in 0..<250_000 { _ = wheel.insert(Object(), at: 1 << 20) }
        #expect(wheel.count == 250_000)
    }
}

/// Walks of random steps, each compared with a plain array.
@Suite(.timeLimit(.minutes(10))) struct TimeWheelWalkTests {
    @Test(arguments: 0..<20) func randomWalksAgreeWithASortedArray(group: UInt64) {
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
    private var random: SeededGenerator
    private var wheel: TimerWheel<Int>
    /// What should wait, in the order of insertion, by deadline as the wheel should see it.
    private var model: [(deadline: UInt64, number: Int, ticket: TimerWheel<Int>.Ticket)] = []
    private var gone: [TimerWheel<Int>.Ticket] = []
    private var present: UInt64
    private var nextNumber = 0

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        present = Bool.random(using: &random) ? 0 : random.next() >> UInt64.random(in: 0..<64, using: &random)
        wheel = TimerWheel(present: present)
    }

    func run(steps: Int) -> Bool {
        for _ in 0..<steps {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5: insert()
            case 5..<7: remove()
            case 7: catchUp()
            default: advance(by: distance(), disturbed: Bool.random(using: &random))
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
        switch Int.random(in: 0..<4, using: &random) {
        case 0: UInt64.random(in: 0...3, using: &random)
        case 1: UInt64.random(in: 0...200, using: &random)
        case 2:
            (~present & (1 << UInt64.random(in: 0..<64, using: &random) - 1))
                &+ UInt64.random(in: 0...2, using: &random)
        default: random.next() >> UInt64.random(in: 0..<64, using: &random)
        }
    }

    private func insert() {
        let known = model.randomElement(using: &random)?.deadline
        let deadline =
            switch (Int.random(in: 0..<8, using: &random), known) {
            case (0, _): present - min(present, distance())
            case (1...2, let known?): known
            default: present.addingSaturating(distance())
            }
        let ticket = wheel.insert(nextNumber, at: deadline)
        model.append((max(deadline, present), nextNumber, ticket))
        nextNumber += 1
    }

    private func remove() {
        if let ticket = gone.randomElement(using: &random), let number = wheel.remove(ticket) {
            expect(false, "\(number) was removed by a ticket that was used before")
        }
        guard let index = model.indices.randomElement(using: &random) else { return }
        let element = model.remove(at: index)
        expect(wheel.remove(element.ticket) == element.number, "\(element.number) waits and was not removed")
        gone.append(element.ticket)
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
        while let number = wheel.advance(to: target) {
            let due = earliest ?? .max
            let first = model.firstIndex { $0.deadline == due }
            guard let first, due <= target, model[first].number == number else {
                return expect(false, "\(number) came by \(target) out of turn")
            }
            expect(wheel.present == due, "\(number) came at \(wheel.present)")
            gone.append(model.remove(at: first).ticket)
            present = due
            if disturbed, Int.random(in: 0..<3, using: &random) == 0 {
                Bool.random(using: &random) ? insert() : remove()
            }
        }
        present = target
        expect(wheel.present == target, "the present is \(wheel.present), not \(target)")
        if let earliest { expect(earliest > target, "something due at \(earliest) did not come by \(target)") }
    }

    private var earliest: UInt64? { model.lazy.map(\.deadline).min() }

    private func check() {
        expect(wheel.count == model.count, "\(wheel.count) wait, not \(model.count)")
        expect(wheel.firstDeadline == earliest, "first deadline: \(String(describing: wheel.firstDeadline))")
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

private final class Object {}

extension TimerWheel {
    fileprivate mutating func drain(to tick: UInt64) -> [Element] {
        var elements: [Element] = []
        while let element = advance(to: tick) { elements.append(element) }
        return elements
    }
}

extension UInt64 {
    fileprivate func addingSaturating(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
