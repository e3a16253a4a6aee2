import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct ListenersTests {
    private func all(_ stream: AsyncStream<Int>) async -> [Int] {
        var events: [Int] = []
        for await event in stream { events.append(event) }
        return events
    }

    @Test func firstStreamReceivesEarlierEvents() async {
        let listeners = Listeners<Int>(nil)
        listeners.tell(1)
        let first = listeners.stream()
        let second = listeners.stream()
        listeners.tell(2)
        listeners.end()
        #expect(await all(first) == [1, 2])
        #expect(await all(second) == [2])
    }

    @Test func streamOfEndedSourceEnds() async {
        let listeners = Listeners<Int>(nil)
        listeners.tell(1)
        listeners.end()
        listeners.tell(2)
        #expect(await all(listeners.stream()) == [1])
        #expect(await all(listeners.stream()) == [])
    }

    @Test func slowListenerLosesOldestEvents() async {
        let listeners = Listeners<Int>(nil)
        let count = Listeners<Int>.mostKept + 10
        for event in 0..<count { listeners.tell(event) }
        listeners.end()
        #expect(await all(listeners.stream()) == Array(10..<count))
    }

    @Test func closureReceivesEveryEventAtOnce() {
        let heard = Locked<[Int]>([])
        let listeners = Listeners<Int> { event in heard.withLock { $0.append(event) } }
        for event in 1...3 { listeners.tell(event) }
        #expect(heard.withLock { $0 } == [1, 2, 3])
    }

    @Test func endedListenerIsRemoved() async {
        let listeners = Listeners<Int>(nil)
        for _ in 0..<100 {
            let stream = listeners.stream()
            let task = Task { await all(stream) }
            task.cancel()
            _ = await task.value
        }
        #expect(listeners.count == 0)
    }
}
