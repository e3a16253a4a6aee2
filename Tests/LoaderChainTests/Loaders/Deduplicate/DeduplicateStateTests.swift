import Testing

@testable import LoaderChain

/// The pure state of shared executions, against a list of what each task waits for.
@Suite(.timeLimit(.minutes(10))) struct DeduplicateStateTests {
    @Test func randomWalksAgreeWithTheNaiveState() {
        takeWalks { seed in
            var walk = Walk(seed: seed)
            return walk.difference()
        }
    }

    private struct Walk {
        private struct Execution {
            let key: Int
            var followers: [UInt64]
            var isOpen = true
        }

        private var random: SeededGenerator
        private var state = DeduplicateState<Int, UInt64, Int>()
        private var naive: [UInt64: Execution] = [:]
        private var lastFollower: UInt64 = 0
        private var lastExecution = 0

        init(seed: UInt64) { random = SeededGenerator(seed: seed) }

        mutating func difference() -> String? {
            for _ in 0..<50 {
                let difference =
                    switch random.next(upperBound: 16 as UInt64) {
                    case 0: reset()
                    case 1...7: join(key: Int(random.next(upperBound: 3 as UInt64)))
                    case 8...11: leave(1 + random.next(upperBound: lastFollower + 1))
                    default: end()
                    }
                if let difference { return difference }
                let followers = naive.values.reduce(0) { $0 + $1.followers.count }
                if (state.executions, state.followers) != (naive.count, followers) {
                    return
                        "\(state.executions) executions with \(state.followers), not \(naive.count) with \(followers)"
                }
            }
            return nil
        }

        private mutating func join(key: Int) -> String? {
            lastFollower += 1
            lastExecution += 1
            let execution = lastExecution
            let started = state.join(lastFollower, number: lastFollower, key: key) { execution }
            let open = naive.filter { $0.value.key == key && $0.value.isOpen }
            guard let (flight, _) = started else {
                guard open.count == 1, let joined = open.first?.key else { return "\(key) joined none of one" }
                naive[joined]?.followers.append(lastFollower)
                return nil
            }
            if !open.isEmpty { return "\(key) did not join" }
            naive[flight] = Execution(key: key, followers: [lastFollower])
            return nil
        }

        private mutating func leave(_ follower: UInt64) -> String? {
            let followed = naive.first { $0.value.followers.contains(follower) }?.key
            followed.map { naive[$0]?.followers.removeAll { $0 == follower } }
            let isLast = followed.flatMap { naive[$0]?.followers.isEmpty } ?? false
            switch state.leave(follower) {
            case .tooLate: return followed == nil ? nil : "\(follower) was forgotten"
            case .left: return followed != nil && !isLast ? nil : "\(follower) was not the last"
            case .leftLast:
                followed.map { naive[$0]?.isOpen = false }
                return isLast ? nil : "\(follower) was not the last"
            }
        }

        private mutating func end() -> String? {
            guard let flight = naive.keys.sorted().randomElement(using: &random) else { return nil }
            let ended = state.end(flight)?.followers
            let expected = naive.removeValue(forKey: flight)?.followers
            if state.end(flight) != nil { return "\(flight) ended twice" }
            return ended == expected ? nil : "\(flight) ended for \(ended as Any), not \(expected as Any)"
        }

        private mutating func reset() -> String? {
            let (followers, executions) = state.reset()
            let expected = naive.sorted { $0.key < $1.key }.flatMap(\.value.followers)
            for flight in naive.keys {
                naive[flight]?.followers = []
                naive[flight]?.isOpen = false
            }
            if executions.count != naive.count { return "a reset waits for \(executions)" }
            return followers == expected ? nil : "a reset ends \(followers), not \(expected)"
        }
    }
}
