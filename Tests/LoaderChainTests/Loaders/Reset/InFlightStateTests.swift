import Testing

@testable import LoaderChain

/// The pure state of what is in flight, against sets.
@Suite(.timeLimit(.minutes(10))) struct InFlightStateTests {
    @Test func randomWalksAgreeWithSets() {
        takeWalks(difference(onWalk:))
    }

    /// Each reset is remembered with everything that was in flight when it began: it is over when none of that is left.
    private func difference(onWalk seed: UInt64) -> String? {
        var random = SeededGenerator(seed: seed)
        var state = InFlightState<UInt64, Int>()
        var inFlight: Set<UInt64> = []
        var waiting: [Int: Set<UInt64>] = [:]
        for step in 0..<60 {
            let number = random.next(upperBound: 12 as UInt64)
            switch random.next(upperBound: 8 as UInt64) {
            case 0:
                let asked = state.begin(step).map(Set.init)
                let isFirst = waiting.isEmpty
                if inFlight.isEmpty {
                    if asked != nil { return "a reset of nothing waits" }
                } else {
                    waiting[step] = inFlight
                    if asked != (isFirst ? inFlight : []) { return "a reset cancels \(asked as Any)" }
                }
            case 1...4:
                let isAdmitted = state.admit(number, number: number)
                if isAdmitted != waiting.isEmpty { return "\(number) admitted: \(isAdmitted)" }
                if isAdmitted { inFlight.insert(number) }
            default:
                let finished = Set(state.end(number))
                inFlight.remove(number)
                let over = waiting.filter { $0.value.isDisjoint(with: inFlight) }.keys
                if finished != Set(over) { return "the end of \(number) finishes \(finished), not \(over)" }
                for reset in over { waiting[reset] = nil }
            }
            if state.count != inFlight.count { return "\(state.count) in flight, not \(inFlight.count)" }
        }
        return nil
    }
}
