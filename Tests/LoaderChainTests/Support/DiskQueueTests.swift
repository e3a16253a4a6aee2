import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct DiskQueueTests {
    @Test func callsRunOnNoThreadOfSwiftTasks() async {
        let disk = DiskQueue()
        for _ in 0..<100 {
            let isOutside = await disk.perform { withUnsafeCurrentTask { $0 == nil } }
            #expect(isOutside)
        }
    }

    @Test func callsRunInOrder() async {
        let disk = DiskQueue()
        let done = Locked<[Int]>([])
        let gate = Awaited(false)
        let first = Task {
            await disk.perform {
                gate.change { $0 = true }
                done.withLock { $0.append(1) }
            }
        }
        await gate.wait(until: { $0 })
        await disk.perform { done.withLock { $0.append(2) } }
        await first.value
        #expect(done.withLock(\.self) == [1, 2])
    }

    @Test func callsOfAnActorRunInItsOrder() async {
        actor Writer {
            let disk = DiskQueue()
            var begun: [Int] = []

            func write(_ number: Int, to done: Locked<[Int]>) async {
                begun.append(number)
                await disk.perform { done.withLock { $0.append(number) } }
            }
        }
        let (writer, done) = (Writer(), Locked<[Int]>([]))
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<1_000 { group.addTask { await writer.write(number, to: done) } }
        }
        #expect(await writer.begun == done.withLock(\.self))
    }

    @Test func errorIsThrownToTheCaller() async {
        struct Fault: Error {}
        await #expect(throws: Fault.self) { try await DiskQueue().perform { () throws(Fault) in throw Fault() } }
    }
}
