import LoaderChainTesting
import Testing

@testable import LoaderChain

/// The table of beginnings against a dictionary.
@Suite(.timeLimit(.minutes(10))) struct AttemptTimesTests {
    @Test(arguments: 0..<4 as Range<UInt64>)
    func tableAgreesWithDictionary(group: UInt64) {
        takeWalks(seeds: (group * 50)..<(group * 50 + 50)) { seed in
            var random = SeededGenerator(seed: seed)
            var times = AttemptTimes()
            var model: [UInt64: Int64] = [:]
            // Few numbers, so that many meet; or wide ones, as another process may have.
            let numbers: ClosedRange<UInt64> = seed.isMultiple(of: 2) ? 0...60 : (.max - 1_000)...(.max - 1)
            for step in 0..<400 as Range<Int64> {
                let number = UInt64.random(in: numbers, using: &random)
                if Bool.random(using: &random), model[number] == nil {
                    let beginning = AttemptTimes.Beginning(
                        instant: TimerInstant(nanoseconds: step), period: UInt32(step))
                    times.insert(number, beginning)
                    model[number] = step
                } else {
                    let found = times.remove(number)
                    let expected = model.removeValue(forKey: number)
                    if found?.instant.nanoseconds != expected || found.map({ Int64($0.period) }) != expected {
                        return
                            "step \(step): \(number) is \(String(describing: found)), not \(String(describing: expected))"
                    }
                }
                if times.count != model.count { return "step \(step): counts \(times.count), not \(model.count)" }
            }
            for (number, step) in model where times.remove(number)?.instant.nanoseconds != step {
                return "\(number) was lost"
            }
            return nil
        }
    }
}
