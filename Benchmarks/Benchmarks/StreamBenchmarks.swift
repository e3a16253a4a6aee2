import BenchmarkSupport
import Dispatch
import LoaderChain
import LoaderChainPlatformFoundation

/// The cost of lines and events compared with reading the bytes that they are made of.
func streamBenchmarks() -> [Benchmark] {
    let suite = Suite()
    let event = "id:12345678\ndata:" + String(repeating: "x", count: 109) + "\n\n"
    let line = String(repeating: "x", count: 127) + "\n"

    suite.add(
        streamBenchmark("event", "Reads a server-sent event of 128 bytes", event, allocations: 3) { response, count in
            var events = response.serverSentEvents().makeAsyncIterator()
            for _ in 0..<count { blackHole(try await events.next()) }
        })
    suite.add(
        streamBenchmark("line", "Reads a line of 128 bytes", line, allocations: 1) { response, count in
            var lines = response.lines().makeAsyncIterator()
            for _ in 0..<count { blackHole(try await lines.next()) }
        })
    return suite.benchmarks
}

private func streamBenchmark(
    _ name: String, _ workload: String, _ text: String, allocations: Double,
    _ read: @escaping @Sendable (HTTPResponse, Int) async throws -> Void
) -> Benchmark {
    .slope(
        "stream/\(name)", "\(workload): what that adds to reading the bytes.", limit: .microseconds(1),
        allocations: allocations, bytes: text.utf8.count, small: (0, readingBytes(of: text)),
        large: (1, reading(text, read)))
}

/// How often a text is in each piece of a body.
private let textsInAPiece = 512

private func readingBytes(of text: String) -> Benchmark.Setup {
    reading(text) { response, count in
        guard var chunks = response.chunks?.makeAsyncIterator() else { return }
        for _ in 0..<(count + textsInAPiece - 1) / textsInAPiece { blackHole(try await chunks.next()) }
    }
}

/// Reads a text a number of times from a body without an end.
private func reading(
    _ text: String, _ read: @escaping @Sendable (HTTPResponse, Int) async throws -> Void
) -> Benchmark.Setup {
    {
        let piece = Data(String(repeating: text, count: textsInAPiece).utf8)
        let request = HTTPRequest(host: "example.com", path: "/")
        return { iterations in
            let end = DispatchSemaphore(value: 0)
            Task {
                var response = HTTPResponse(request: request, status: .ok)
                response.headers["Content-Type"] = "text/event-stream"
                response.chunks = ResponseChunks(next: { piece })
                do { try await read(response, iterations) } catch { fatalError("\(error)") }
                end.signal()
            }
            end.wait()
        }
    }
}
