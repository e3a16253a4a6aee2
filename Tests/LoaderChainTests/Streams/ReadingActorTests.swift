import Dispatch
import Foundation
import LoaderChainTesting
import Testing

@testable import LoaderChain

/// Streams that an actor reads, as the main actor does in an app.
@Suite(.timeLimit(.minutes(10))) struct ReadingActorTests {
    private static let count = 2_000

    /// An actor that counts how often it is entered.
    private actor Reader {
        private let executor = CountingExecutor()
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        /// How many elements there are, and how often this actor was entered to read them.
        func read<Elements: AsyncSequence>(_ elements: sending Elements) async throws -> (count: Int, entries: Int) {
            let before = executor.entries
            var count = 0
            for try await _ in elements { count += 1 }
            return (count, executor.entries - before)
        }
    }

    private final class CountingExecutor: SerialExecutor {
        private let queue = DispatchQueue(label: "LoaderChainTests.reader")
        private let counted = Locked(0)

        var entries: Int { counted.withLock { $0 } }

        func enqueue(_ job: consuming ExecutorJob) {
            counted.withLock { $0 += 1 }
            let (job, executor) = (UnownedJob(job), asUnownedSerialExecutor())
            queue.async { job.runSynchronously(on: executor) }
        }
    }

    private func response(_ record: String, type: String = "text/event-stream") -> HTTPResponse {
        Deliveries.response([Array(String(repeating: record, count: Self.count).utf8)], type: type)
    }

    private func expectFewEntries(_ read: (count: Int, entries: Int), sourceLocation: SourceLocation = #_sourceLocation)
    {
        #expect(read.count == Self.count, sourceLocation: sourceLocation)
        // The body is one piece, so there is next to nothing to wait for.
        #expect(read.entries < 50, sourceLocation: sourceLocation)
    }

    @Test func bufferedResponseElementsAreReadWithoutLeavingActor() async throws {
        expectFewEntries(try await Reader().read(response("line\n").lines()))
        expectFewEntries(try await Reader().read(response("7\n").values(as: Int.self)))
        expectFewEntries(try await Reader().read(response("data: event\n\n").serverSentEvents()))
    }

    @Test func bufferedStreamEventsAreReadWithoutLeavingActor() async throws {
        let (first, requests) = (response("data: event\n\n"), Locked(0))
        let chain = ClosureLoader { request, _ in
            let isFirst = requests.withLock {
                $0 += 1; return $0 == 1
            }
            return isFirst ? first : HTTPResponse(request: request, status: .noContent)
        }
        var settings = EventStream.Settings()
        settings.reconnectionTime = .zero
        // A delay that chance makes as short as it can be.
        settings.maximumDelay = .zero
        expectFewEntries(try await Reader().read(EventStream(.sample, chain: chain, settings: settings)))
    }
}
