import Dispatch
import LoaderChainTesting
import Testing

@testable import LoaderChain

/// How records get to the sinks, and what a bad sink does to others.
@Suite(.timeLimit(.minutes(10))) struct MetricDeliveryTests {
    let timers = ManualTimers()

    /// Holds every record until it is let go.
    private final class StuckSink: MetricSink {
        let gate = DispatchSemaphore(value: 0)
        let kept = RecordingSink(isImmediate: false)
        let log = EventLog()

        func record(_ record: MetricRecord) {
            log.note("came")
            gate.wait()
            kept.record(record)
        }
    }

    private func name(_ record: MetricRecord) -> String {
        switch record {
        case .request(let metric): metric.route
        case .event(let event): event.name
        case .trace(let trace): trace.name
        }
    }

    @Test func stuckSinkDelaysNoRequestAndDropsItsOldestRecords() async {
        let stuck = StuckSink()
        let well = RecordingSink(isImmediate: false)
        let recorder = MetricRecorder(stuck, well, capacity: 10, timers: timers)
        let chain = MetricsTap(recorder) --> ScriptedTerminal { _ in .success() }
        let ended = Locked(0)
        func load(_ name: String) {
            chain.load(request: HTTPRequest(host: "a", path: "/\(name)")) { _ in ended.withLock { $0 += 1 } }
        }
        load("first")
        // The sink has the record, and the queue is empty.
        await stuck.log.waitForEvents(1)
        for index in 0..<30 {
            load("x" + String(repeating: "y", count: index))
            // The other sink keeps up, so that it loses nothing.
            await well.log.waitForEvents(index + 2)
        }
        #expect(ended.withLock { $0 } == 31)
        #expect(well.metrics.count == 31)
        #expect(recorder.dropped == 20)
        #expect(chain.description.contains("dropped 20"))
        for _ in 0..<11 { stuck.gate.signal() }
        await recorder.flush()
        #expect(
            stuck.kept.metrics.map(\.route)
                == ["/first"] + (20..<30).map { "/x" + String(repeating: "y", count: $0) })
    }

    @Test func sinkReceivesRecordsOneAtATime() async throws {
        let busy = Locked((now: 0, most: 0))
        let sink = RecordingSink(isImmediate: false)
        let recorder = MetricRecorder(
            ClosureSink { record in
                busy.withLock {
                    $0.now += 1
                    $0.most = max($0.most, $0.now)
                }
                sink.record(record)
                busy.withLock { $0.now -= 1 }
            }, capacity: 100_000, timers: timers)
        try onThreads(4) { thread in
            for number in 0..<2_000 { recorder.event("\(thread)", counters: ["n": Int64(number)]) }
        }
        await recorder.flush()
        #expect(busy.withLock { $0.most } == 1)
        #expect(sink.records.count == 8_000 && recorder.dropped == 0)
        // The records of one thread keep their order.
        for thread in 0..<4 {
            let numbers = sink.records.compactMap { record -> Int64? in
                if case .event(let event) = record, event.name == "\(thread)" { event.counters["n"] } else { nil }
            }
            #expect(numbers == Array(0..<2_000))
        }
    }

    @Test func immediateSinkReceivesRecordBeforeCallerHandler() {
        let sink = RecordingSink()
        let chain = MetricsTap(sink) --> ScriptedTerminal { _ in .success() }
        let seen = Locked(-1)
        chain.load(request: .sample) { _ in seen.withLock { $0 = sink.records.count } }
        #expect(seen.withLock { $0 } == 1)
    }

    @Test func sinkMayLoadItsOwnRequests() {
        let chain = HTTPLoader()
        let sink = RecordingSink()
        let loading = ClosureSink(isImmediate: true) { [weak chain] record in
            guard case .request(let metric) = record, metric.route != "/report" else { return }
            chain?.load(request: HTTPRequest(host: "a", path: "/report")) { _ in }
        }
        chain --> MetricsTap(MetricRecorder(loading, sink, timers: timers)) --> ScriptedTerminal { _ in .success() }
        for _ in 0..<3 { chain.load(request: .sample) { _ in } }
        #expect(sink.metrics.count == 6)
    }

    @Test func flushDeliversAllEarlierRecords() async throws {
        let sink = RecordingSink(isImmediate: false)
        let recorder = MetricRecorder(sink, capacity: 100_000, timers: timers)
        for round in 0..<200 {
            try onThreads(2) { thread in
                for number in 0..<Int64(5) { recorder.event("\(round)-\(thread)", counters: ["n": number]) }
            }
            await recorder.flush()
            #expect(sink.records.count == 10 * (round + 1))
        }
    }

    @Test func flushWithoutRecordsReturns() async {
        await MetricRecorder(timers: timers).flush()
        await MetricRecorder(RecordingSink(isImmediate: false), timers: timers).flush()
    }

    // MARK: Streams

    @Test func streamDeliversNewestRecordsAndCountsDropped() async {
        let stream = MetricStream(capacity: 3)
        let recorder = MetricRecorder(stream, timers: timers)
        for number in 0..<5 { recorder.event("\(number)") }
        stream.finish()
        var names: [String] = []
        for await record in stream { names.append(name(record)) }
        #expect(names == ["2", "3", "4"] && stream.dropped == 2)
    }

    @Test func readerReceivesLaterRecords() async {
        let stream = MetricStream()
        let recorder = MetricRecorder(stream, timers: timers)
        let reader = Task {
            var names: [String] = []
            for await record in stream { names.append(name(record)) }
            return names
        }
        for number in 0..<100 { recorder.event("\(number)") }
        stream.finish()
        #expect(await reader.value == (0..<100).map { "\($0)" })
    }

    @Test func releasedStreamEnds() async {
        let reader: Task<Int, Never>
        do {
            let stream = MetricStream()
            stream.record(.event(MetricEvent(name: "a", date: timers.date)))
            var iterator = stream.makeAsyncIterator()
            _ = await iterator.next()
            reader = Task { [iterator] in
                var iterator = iterator
                var count = 0
                while await iterator.next() != nil { count += 1 }
                return count
            }
        }
        #expect(await reader.value == 0)
    }

    @Test func cancelledReaderEndsStream() async {
        let stream = MetricStream()
        let log = EventLog()
        let reader = Task {
            for await _ in stream { log.note("read") }
        }
        stream.record(.event(MetricEvent(name: "a", date: timers.date)))
        await log.waitForEvents(1)
        reader.cancel()
        await reader.value
        stream.record(.event(MetricEvent(name: "b", date: timers.date)))
        var later = stream.makeAsyncIterator()
        #expect(await later.next() == nil)
        #expect(log.events == ["read"] && stream.dropped == 0)
    }
}
