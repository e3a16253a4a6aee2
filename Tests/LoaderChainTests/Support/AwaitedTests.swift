import LoaderChain
import LoaderChainTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct AwaitedTests {
    @Test func waitReturnsAtOnceWhenConditionIsMet() async {
        let number = Awaited(3)
        await number.wait(until: { $0 == 3 })
        #expect(await number.wait { $0 > 2 ? "\($0)" : nil } == "3")
    }

    @Test func changeEndsOnlyWaitsWhoseConditionIsMet() async throws {
        let number = Awaited(0)
        let ended = EventLog()
        let waits = [1, 2, 3].map { wanted in
            Task {
                let answer = await number.wait { $0 >= wanted ? $0 : nil }
                ended.note("\(wanted)")
                return answer
            }
        }
        #expect(number.change { replace(&$0, with: 2) } == 0)
        await ended.waitForEvents(2)
        #expect(Set(ended.events) == ["1", "2"])
        #expect(await waits[0].value == 2)
        #expect(await waits[1].value == 2)
        number.change { $0 = 5 }
        #expect(await waits[2].value == 5)
        #expect(number.read(\.self) == 5)
    }

    @Test func waitReturnsValueOfMatchingChange() async {
        let number = Awaited(0)
        let isWaiting = Awaited(false)
        let wait = Task {
            await number.wait { value -> Int? in
                isWaiting.change { $0 = true }
                return value == 1 ? value : nil
            }
        }
        await isWaiting.wait(until: \.self)
        number.change { $0 = 1 }
        number.change { $0 = 2 }
        #expect(await wait.value == 1)
    }

    @Test func cancelledWaitReturnsNil() async {
        let number = Awaited(0)
        let isAsked = Awaited(false)
        let waiting = Task {
            await number.wait { value -> Int? in
                isAsked.change { $0 = true }
                return value == 1 ? value : nil
            }
        }
        await isAsked.wait(until: \.self)
        waiting.cancel()
        #expect(await waiting.value == nil)
        let cancelledBefore = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await number.wait { $0 == 1 ? $0 : nil }
        }
        #expect(await cancelledBefore.value == nil)
        number.change { $0 = 1 }
    }

    @Test func racingChangesAndCancellationsEndEveryWait() async {
        let number = Awaited(0)
        await withTaskGroup(of: Void.self) { group in
            for round in 1...300 {
                group.addTask {
                    let wait = Task { await number.wait { $0 >= round ? $0 : nil } }
                    if round % 3 == 0 { wait.cancel() }
                    let answer = await wait.value
                    #expect(answer ?? .max >= round && (answer != nil || round % 3 == 0))
                }
                group.addTask { number.change { $0 += 1 } }
            }
        }
    }
}
