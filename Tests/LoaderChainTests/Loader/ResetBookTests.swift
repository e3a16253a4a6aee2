import LoaderChainTesting
import Testing

@testable import LoaderChain

/// Resets that begin, are joined, finish and end in every order.
@Suite(.timeLimit(.minutes(10))) struct ResetBookTests {
    @Test func everyOrderOfFiveEventsTellsEachCallerOnceAndOfAResetOfItsTime() {
        var orders: [[World.Event]] = [[]]
        for _ in 0..<5 { orders = orders.flatMap { order in World.Event.allCases.map { order + [$0] } } }
        for order in orders {
            var world = World()
            for event in order { world.take(event) }
            world.endAll()
            if let fault = world.fault {
                Issue.record("\(order): \(fault)")
                return
            }
        }
    }

    @Test func aResetAfterOneThatIsOverIsANewOne() async {
        let counter = ResetCounter()
        let chain = HTTPLoader() --> counter
        let log = EventLog()
        // Each one is over when the call returns, and is called back later.
        for _ in 0..<200 { chain.reset { log.note("") } }
        #expect(counter.count == 200)
        await log.waitForEvents(200)
    }

    /// One loader, whose walks finish, and are ended later by another thread.
    private struct World {
        /// A caller looks at the reset that is running, and joins it a moment later; or both at once.
        enum Event: CaseIterable { case look, join, leaveFirst, leaveLast, finish, endOldest }

        private final class Walk {
            var isOver = false
            let number: Int
            init(_ number: Int) { self.number = number }
        }

        private final class Caller {
            /// The walk that was running when it came; nil before it is known.
            var walk: Walk?
            var told = 0
        }

        private let loader = Walk(0)
        private var book = ResetBook<Walk, Caller>()
        /// The walks that have begun and not been ended, in their order.
        private var walks: [Walk] = []
        private var callers: [Caller] = []
        private var begun = 0
        /// What the caller has seen that is about to join, and the walks that were over by then.
        private var seen: (running: Walk?, over: [Int])?
        private var over: [Int] = []
        private(set) var fault: String?

        private var id: ObjectIdentifier { ObjectIdentifier(loader) }
        private var waiting: [Caller] { callers.filter { $0.told == 0 } }

        mutating func take(_ event: Event) {
            switch event {
            case .look: seen = (book.walk(at: id), over)
            case .join: join()
            case .leaveFirst: leave(waiting.first)
            case .leaveLast: leave(waiting.last)
            case .finish: finish(walks.last)
            case .endOldest: if walks.first?.isOver == true { end(walks.removeFirst()) }
            }
        }

        /// Lets everything come to its end.
        mutating func endAll() {
            for walk in walks {
                finish(walk)
                end(walk)
            }
            if callers.contains(where: { $0.told != 1 }) { fault = "told \(callers.map(\.told))" }
            if !book.isEmpty { fault = "a reset was kept" }
        }

        private mutating func join() {
            let (caller, walk) = (Caller(), Walk(begun + 1))
            callers.append(caller)
            let (running, overBefore) = seen ?? (book.walk(at: id), over)
            seen = nil
            let finished = running.flatMap { overBefore.contains($0.number) ? $0 : nil }
            let (begins, told) = book.join(caller, at: id, orBegin: walk, insteadOf: finished)
            if begins {
                begun += 1
                walks.append(walk)
            }
            caller.walk = walks.last
            if caller.walk.map({ overBefore.contains($0.number) }) != false { fault = "joined what was over" }
            tell(told, endOf: nil)
        }

        private mutating func finish(_ walk: Walk?) {
            guard let walk, !walk.isOver else { return }
            walk.isOver = true
            over.append(walk.number)
        }

        private mutating func leave(_ caller: Caller?) {
            guard let caller else { return }
            guard let (walk, isLast) = book.leave(caller, at: id) else {
                fault = "a caller was forgotten"
                return
            }
            caller.told += 1
            if walk !== caller.walk { fault = "left another reset" }
            // A walk that is given up has no end.
            if isLast { walks.removeAll { $0 === walk } }
            if isLast != !waiting.contains(where: { $0.walk === walk }) { fault = "last: \(isLast)" }
        }

        private mutating func end(_ walk: Walk) { tell(book.end(walk, at: id), endOf: walk) }

        private mutating func tell(_ told: [Caller], endOf walk: Walk?) {
            for caller in told {
                caller.told += 1
                if caller.walk?.isOver != true { fault = "told before the end" }
                if let walk, caller.walk !== walk { fault = "told of another reset" }
            }
        }
    }
}
