import Foundation
import TestSizes
import Testing

@testable import LoaderChain

/// The pace that a throttle keeps up for each priority, whatever traffic of higher priorities there is.
@Suite(.timeLimit(.minutes(20))) struct ThrottlePaceTests {
    /// How many walks each test takes; some thousand are worth their time after a change of the turns.
    private static let walks = UInt64(testSize("THROTTLE_WALKS", usually: 40, atLeast: 40))

    /// A host's limit and the total limit each let eight tasks overtake the first in line, so a waiter that meets both may be
    /// overtaken eight times before each of the eight starts at its host.
    @Test func overtakingAndWaitsAreBounded() {
        takeWalks(seeds: 0..<Self.walks) { seed in
            var traffic = SteadyTraffic(seed: seed)
            traffic.run(until: 600)
            return traffic.fault
        }
    }

    @Test func lowPriorityTakesAtMostAQuarterOfStarts() {
        takeWalks(seeds: 0..<(Self.walks / 4)) { seed in
            var traffic = SteadyTraffic(seed: seed, alwaysHasLow: true)
            traffic.run(until: 400)
            let share = Double(traffic.lowStarts) / Double(max(1, traffic.starts))
            return share > 0.25
                ? "\(traffic.lowStarts) of \(traffic.starts) starts were of low priority" : traffic.fault
        }
    }
}

/// Hosts whose queues always hold tasks of high priority, and others now and then; each task takes its time.
private struct SteadyTraffic {
    private(set) var fault = ""
    private(set) var starts = 0
    private(set) var lowStarts = 0

    private struct Task {
        let id: Int
        let priority: ThrottlePriority
        let host: Int
        /// Since when it has been the first of its priority at its host, and of all of its priority.
        var firstAtHostSince: Int?
        var firstSince: Int?
        /// How many of higher priority started at its host while it was the first of its own there.
        var passedAtHost = 0
        /// How many of higher priority started anywhere while it could have run and was the first of all its priority.
        var passed = 0
    }

    private var random: SeededGenerator
    private var state: ThrottleState<Int, Int>
    private let hosts: Int
    private let limit: Int
    private let perHost: Int?
    private let longest: Int
    private let alwaysHasLow: Bool
    private var now = 0
    private var tasks: [Int: Task] = [:]
    private var waiting: [Int] = []
    private var running: [(id: Int, end: Int, slot: ThrottleSlot)] = []
    private var runningAtHost: [Int: Int] = [:]
    private var nextID = 0

    private static let patience = PriorityTurns.Patience().starts

    /// - Parameter alwaysHasLow: whether some of low priority always wait too, instead of now and then.
    init(seed: UInt64, alwaysHasLow: Bool = false) {
        random = SeededGenerator(seed: seed)
        hosts = Int.random(in: 1...4, using: &random)
        limit = Int.random(in: 1...8, using: &random)
        perHost =
            Bool.random(using: &random) || Bool.random(using: &random) ? Int.random(in: 1...3, using: &random) : nil
        longest = Int.random(in: 1...12, using: &random)
        self.alwaysHasLow = alwaysHasLow
        state = ThrottleState(limit: UInt(limit), perHost: perHost.map { UInt($0) })
    }

    private var instant: TimerInstant { TimerInstant(nanoseconds: Int64(now)) }

    mutating func run(until end: Int) {
        while now < end, fault.isEmpty {
            for host in 0..<hosts {
                // Never without one of high priority, or the others would only have to wait for the end of those.
                refill(.high, host)
                if alwaysHasLow { refill(.low, host) }
            }
            if Int.random(in: 0..<40, using: &random) == 0 { arrive(.low, Int.random(in: 0..<hosts, using: &random)) }
            if Int.random(in: 0..<40, using: &random) == 0 {
                arrive(.normal, Int.random(in: 0..<hosts, using: &random))
            }
            now += 1
            finishWhatIsDue()
            checkWaits()
        }
    }

    private mutating func refill(_ priority: ThrottlePriority, _ host: Int) {
        while waiting.count(where: { tasks[$0]?.host == host && tasks[$0]?.priority == priority }) < 10, fault.isEmpty {
            arrive(priority, host)
        }
    }

    private mutating func arrive(_ priority: ThrottlePriority, _ host: Int) {
        nextID += 1
        let (id, number) = (nextID, UInt64(nextID))
        tasks[id] = Task(id: id, priority: priority, host: host)
        let origin = perHost.map { _ in HTTPOrigin(host: "\(host)", port: nil) }
        if let slot = origin.map({ state.start(number, for: $0) }) ?? state.start(number) {
            return starts(id, slot)
        }
        let arrival = ThrottleArrival(number: number, priority: priority, origin: origin, instant: instant)
        guard case .waits = state.arrive(id, arrival) else {
            fault = "\(id) does not wait"
            return
        }
        waiting.append(id)
        noteFirsts()
    }

    private mutating func finishWhatIsDue() {
        while let index = running.firstIndex(where: { $0.end <= now }), fault.isEmpty {
            let (id, _, slot) = running.remove(at: index)
            if let task = tasks.removeValue(forKey: id) { runningAtHost[task.host, default: 0] -= 1 }
            var next = state.finish(slot, at: instant).next
            while let start = next {
                passOver(start.waiter)
                waiting.removeAll { $0 == start.waiter }
                if let slot = start.slot { starts(start.waiter, slot) }
                noteFirsts()
                next = state.next(at: instant)
            }
        }
    }

    private mutating func starts(_ id: Int, _ slot: ThrottleSlot) {
        guard let task = tasks[id] else { return }
        starts += 1
        if task.priority == .low { lowStarts += 1 }
        runningAtHost[task.host, default: 0] += 1
        running.append((id, now + Int.random(in: 1...longest, using: &random), slot))
        if running.count > limit || runningAtHost[task.host, default: 0] > perHost ?? .max { fault = "too many run" }
    }

    private func isFirst(_ id: Int, atHost: Bool) -> Bool {
        guard let task = tasks[id] else { return false }
        return waiting.first { tasks[$0]?.priority == task.priority && (!atHost || tasks[$0]?.host == task.host) } == id
    }

    private mutating func noteFirsts() {
        for id in waiting where tasks[id]?.priority != .high {
            if tasks[id]?.firstAtHostSince == nil, isFirst(id, atHost: true) { tasks[id]?.firstAtHostSince = now }
            if tasks[id]?.firstSince == nil, isFirst(id, atHost: false) { tasks[id]?.firstSince = now }
        }
    }

    /// Counts a start for all that it passes over.
    private mutating func passOver(_ started: Int) {
        guard let winner = tasks[started] else { return }
        for id in waiting {
            guard let task = tasks[id], task.priority < winner.priority else { continue }
            if task.host == winner.host, task.firstAtHostSince != nil { tasks[id]?.passedAtHost += 1 }
            let hasRoom = runningAtHost[task.host, default: 0] < perHost ?? .max
            if hasRoom, task.firstSince != nil { tasks[id]?.passed += 1 }
        }
    }

    private mutating func checkWaits() {
        let patience = Self.patience
        let isPerHost = perHost != nil
        for id in waiting {
            guard let task = tasks[id], task.priority != .high else { continue }
            if isPerHost, task.passedAtHost > patience {
                fault = "\(task) was passed over \(task.passedAtHost) times at its host"
            }
            // Without hosts it could always have run.
            let mostPassed = isPerHost ? patience * (patience + 1) : patience
            if task.passed > mostPassed { return fault = "\(task) was passed over \(task.passed) times" }
            guard task.priority == .low, let since = task.firstSince else { continue }
            // Each tick of the longest run frees every slot once, and each start at its host fills that once more.
            let starts = mostPassed + 1
            let longestWait = (starts / limit + 1) * longest + (isPerHost ? (patience + 2) * longest : 0)
            if now - since > longestWait { return fault = "\(task) has waited \(now - since) of \(longestWait)" }
            guard isPerHost, let perHost, limit >= hosts * perHost, let since = task.firstAtHostSince else { continue }
            // Slots are short only at its host, at which it is the ninth to start.
            let longestAtHost = (patience / perHost + 1) * longest + longest
            if now - since > longestAtHost { return fault = "\(task) has waited \(now - since) of \(longestAtHost)" }
        }
    }
}
