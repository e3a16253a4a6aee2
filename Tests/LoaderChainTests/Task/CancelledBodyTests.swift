import Foundation
import LoaderChainTesting
import Testing

@testable import LoaderChain

/// Tasks that are cancelled while the body of their response arrives.
@Suite(.timeLimit(.minutes(10))) struct CancelledBodyTests {
    private let log = EventLog()

    @Test func bodyThatIsStillReadEndsAsCancelled() async throws {
        let (task, chunks) = try completedTask()
        #expect(try await next(chunks) == Data("a".utf8))
        #expect(!task.cancel() && !task.isCancelled)
        #expect(log.events == ["dropped"])
        for _ in 0..<2 {
            let error = await #expect(throws: HTTPError.self) { try await next(chunks) }
            #expect(error?.code == .cancelled && error?.response?.status == .ok && error?.response?.chunks == nil)
        }
        task.cancel()
        #expect(log.events == ["dropped"])
    }

    @Test func bodyThatWasReadToItsEndStaysComplete() async throws {
        let (task, chunks) = try completedTask()
        #expect(try await chunks.collect(upTo: 10) == Data("ab".utf8))
        #expect(!task.cancel())
        #expect(log.events == [])
        #expect(try await next(chunks) == nil)
    }

    /// Neither the deadline, which is for the head, nor the cancel of the Swift task that has waited for the head.
    @Test func onlyCancelOfTaskEndsBody() async throws {
        let (task, chunks) = try completedTask()
        #expect(!task.stop(atDeadline: true) && !task.stop(atDeadline: false))
        #expect(try await chunks.collect(upTo: 10) == Data("ab".utf8))
    }

    /// A loader such as `Validate` has made an error of the response.
    @Test func bodyOfResponseInErrorEndsToo() async throws {
        let (task, chunks) = try completedTask { .failure(HTTPError(.unknown, request: .sample, response: $0)) }
        task.cancel()
        let error = await #expect(throws: HTTPError.self) { try await next(chunks) }
        #expect(error?.code == .cancelled)
    }

    /// A loader may still have the response when the task is cancelled.
    @Test func bodyOfResponseThatNobodyGetsEnds() async throws {
        let (response, chunks) = try response()
        let task = HTTPTask(request: .sample)
        task.cancel()
        task.complete(.success(response))
        let result = Locked<HTTPResult?>(nil)
        task.addCompletionHandler { end in result.withLock { $0 = end } }
        let error = try #require(result.withLock { $0?.error })
        #expect(error.code == .cancelled && error.response?.status == .ok && error.response?.chunks == nil)
        #expect(log.events == ["dropped"])
        await #expect(throws: HTTPError.self) { try await next(chunks) }
    }

    @Test func readThatWaitsEnds() async throws {
        let pipe = ChunkPipe(
            onLeave: { [log] in log.note("left") },
            failure: { _ in HTTPError(.cannotStoreResponse, request: .sample) })
        var response = HTTPResponse(request: .sample, status: .ok)
        response.chunks = ResponseChunks(
            next: { [log] in
                log.note("asked")
                return try await pipe.next()
            }, onDrop: { pipe.drop() })
        let chunks = try #require(response.chunks)
        let task = HTTPTask(request: .sample)
        task.complete(.success(response))
        let reading = Task { for try await _ in chunks {} }
        await log.waitForEvents(1)
        task.cancel()
        try #require(log.events == ["asked", "left"])
        let error = await #expect(throws: HTTPError.self) { try await reading.value }
        #expect(error?.code == .cancelled)
    }

    /// A task whose response arrives in two chunks, and those.
    private func completedTask(
        _ result: (HTTPResponse) -> HTTPResult = { .success($0) }
    ) throws -> (HTTPTask, ResponseChunks) {
        let (response, chunks) = try response()
        let task = HTTPTask(request: .sample)
        task.complete(result(response))
        return (task, chunks)
    }

    private func response() throws -> (HTTPResponse, ResponseChunks) {
        let rest = Locked(["b", "a"])
        var response = HTTPResponse(request: .sample, status: .ok)
        response.chunks = ResponseChunks(
            next: { rest.withLock { $0.popLast() }.map { Data($0.utf8) } },
            onDrop: { [log] in log.note("dropped") })
        return (response, try #require(response.chunks))
    }

    private func next(_ chunks: ResponseChunks) async throws -> Data? {
        var iterator = chunks.makeAsyncIterator()
        return try await iterator.next()
    }
}
