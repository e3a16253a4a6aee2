import LoaderChainTesting
import Testing

@testable import LoaderChain

/// Events and traces, which are recorded in addition to requests.
@Suite(.timeLimit(.minutes(10))) struct MetricRecorderTests {
    let timers = ManualTimers()
    let sink = RecordingSink()
    private var recorder: MetricRecorder { MetricRecorder(sink, timers: timers) }

    private var traces: [MetricTrace] {
        sink.records.compactMap { if case .trace(let trace) = $0 { trace } else { nil } }
    }

    @Test func eventIsRecordedWithCountersAndAttributes() {
        recorder.event("cart opened", counters: ["items": 3], attributes: ["plan": "pro"])
        guard case .event(let event) = sink.records.first else { return #expect(Bool(false), "no event") }
        #expect(
            event
                == MetricEvent(
                    name: "cart opened", date: timers.date, counters: ["items": 3], attributes: ["plan": "pro"]))
    }

    @Test func traceCollectsValuesUntilStop() {
        let begin = timers.date
        let trace = recorder.startTrace("checkout", attributes: ["plan": "pro", "step": "1"])
        trace.increment("items")
        trace.increment("items", by: 4)
        trace.increment("full", by: .max)
        trace.increment("full", by: 1)
        trace.increment("empty", by: .min)
        trace.increment("empty", by: -1)
        trace.set("step", to: "2")
        trace.set("plan", to: nil)
        timers.advance(by: .seconds(3))
        #expect(sink.records.isEmpty)
        #expect(trace.stop())
        #expect(!trace.stop())
        trace.increment("items")
        #expect(
            traces == [
                MetricTrace(
                    name: "checkout", start: begin, duration: .seconds(3),
                    counters: ["items": 5, "full": .max, "empty": .min], attributes: ["step": "2"])
            ])
    }

    @Test func traceLimitsNumberOfValues() throws {
        let most = RunningTrace.maximumNumberOfValues
        let given = Dictionary(uniqueKeysWithValues: (100..<200).map { ("\($0)", "") })
        let trace = recorder.startTrace("a", attributes: given)
        for number in 0..<100 { trace.increment("\(number)") }
        trace.increment("0")
        trace.set("new", to: "x")
        trace.set("100", to: "changed")
        trace.stop()
        let stopped = try #require(traces.first)
        #expect(stopped.counters.count == most && stopped.counters["0"] == 2 && stopped.counters["99"] == nil)
        #expect(stopped.attributes.count == most && stopped.attributes["new"] == nil)
        #expect(stopped.attributes["100"] == "changed")
    }

    @Test func traceThatIsNotStoppedIsNotRecorded() {
        _ = recorder.startTrace("a")
        #expect(sink.records.isEmpty)
    }

    @Test func traceOfClosureStopsWhenClosureEnds() async throws {
        let value = await recorder.trace("work", attributes: ["a": "b"]) { trace in
            trace.increment("steps")
            timers.advance(by: .seconds(2))
            return 7
        }
        #expect(value == 7)
        await #expect(throws: HTTPError.self) {
            try await recorder.trace("work") { _ in throw HTTPError(.timedOut, request: .sample) }
        }
        await #expect(throws: CancellationError.self) {
            try await recorder.trace("work") { _ in throw CancellationError() }
        }
        #expect(traces.map(\.duration) == [.seconds(2), .zero, .zero])
        #expect(traces.map(\.attributes["error.type"]) == [nil, "timedOut", "CancellationError"])
        #expect(traces.first?.counters == ["steps": 1])
    }

    @Test func eventsAndTracesAreSampledAndFiltered() {
        let recorder = MetricRecorder(sink, samplingRate: 0.5, random: RandomSource(seed: 3), timers: timers) {
            record in
            if case .trace = record { true } else { false }
        }
        let stopped = (0..<100).count { _ in recorder.startTrace("a").stop() }
        let random = RandomSource(seed: 3)
        #expect(stopped == (0..<100).count { _ in random.chance(0.5) })
        for _ in 0..<100 { recorder.event("b") }
        #expect(sink.records.count == stopped && traces.allSatisfy { $0.samplingRate == 0.5 })
    }

    @Test func recorderWithoutSinkRecordsNothing() {
        let silent = MetricRecorder(timers: timers)
        silent.event("a")
        #expect(!silent.startTrace("a").stop())
    }

    @Test func traceMayBeUsedByManyThreads() throws {
        let trace = recorder.startTrace("a")
        try onThreads(4) { thread in
            for _ in 0..<1_000 {
                trace.increment("n")
                trace.set("last", to: "\(thread)")
            }
        }
        trace.stop()
        #expect(traces.first?.counters["n"] == 4_000)
    }
}
