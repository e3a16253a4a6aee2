import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct SlidingWindowTests {
    /// What a window says, from a list of all that happened.
    private struct NaiveWindow {
        let slice: Int64
        private var events: [(slice: Int64, count: Int)] = []
        private var present = Int64.min

        init(slice: Int64) { self.slice = slice }

        mutating func move(to now: Int64) { present = max(present, number(of: now)) }

        mutating func add(_ count: Int) { events.append((present, count)) }

        var sum: Int { events.reduce(0) { present - $1.slice < 10 ? $0 + $1.count : $0 } }

        private func number(of now: Int64) -> Int64 {
            now >= 0 ? now / slice : -((-now + slice - 1) / slice)
        }
    }

    @Test func windowForgetsOldSlices() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<200 {
            let length = Int64.random(in: 10...1_000, using: &generator)
            var window = SlidingWindow<Int>(.nanoseconds(length))
            var model = NaiveWindow(slice: length / 10)
            var now = Int64.random(in: -5_000...5_000, using: &generator)
            for _ in 0..<100 {
                // A clock's readings may come in the wrong order.
                now += Int64.random(in: -length / 10...length / 3, using: &generator)
                window.move(to: TimerInstant(nanoseconds: now))
                model.move(to: now)
                #expect(window.sum == model.sum)
                let count = Int.random(in: 0...5, using: &generator)
                window.add(count)
                model.add(count)
                #expect(window.sum == model.sum)
            }
        }
    }

    @Test(arguments: [1, 10, Int64.max])
    func extremeInstantsDoNotOverflow(_ length: Int64) {
        var window = SlidingWindow<Int>(.nanoseconds(length))
        for now in [Int64.min, Int64.min + 1, -1, 0, 1, Int64.max - 1, Int64.max, Int64.max] {
            window.move(to: TimerInstant(nanoseconds: now))
            window.add(1)
            #expect(window.sum >= 1)
        }
    }
}
