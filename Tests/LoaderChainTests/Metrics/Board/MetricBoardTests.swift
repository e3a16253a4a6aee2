import LoaderChainPlatformFoundation
import LoaderChainTesting
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct MetricBoardTests {
    let timers = ManualTimers()

    private func metric(
        host: String = "a", method: HTTPMethod = .get, route: String = "/x", milliseconds: Int = 10,
        _ outcome: HTTPMetric.Outcome = .response(.ok)
    ) -> MetricRecord {
        .request(
            HTTPMetric(
                start: Date(timeIntervalSince1970: 0), duration: .milliseconds(milliseconds), method: method,
                host: host,
                route: route, outcome: outcome))
    }

    @Test func eachHostMethodAndRouteHasItsRow() {
        let board = MetricBoard(timers: timers)
        for (host, method, route) in [
            ("b", HTTPMethod.get, "/x"), ("a", .post, "/x"), ("a", .get, "/y"), ("a", .get, "/x"), ("a", .get, "/x"),
        ] {
            board.record(metric(host: host, method: method, route: route))
        }
        #expect(
            board.rows.map { "\($0.method) \($0.host)\($0.route) \($0.summary.count)" }
                == ["GET a/x 2", "POST a/x 1", "GET a/y 1", "GET b/x 1"])
        #expect(board[host: "a", route: "/x"].count == 3 && board[host: "a"].count == 4)
        #expect(board.total.count == 5 && board.overflow == nil)
        board.clear()
        #expect(board.rows.isEmpty && board.total.count == 0)
    }

    @Test func outcomesAreCountedByKind() {
        let board = MetricBoard(timers: timers)
        let outcomes: [(HTTPMetric.Outcome, HTTPMetric.Outcome.Kind)] = [
            (.response(.ok), .success), (.response(204), .success), (.response(304), .redirection),
            (.response(404), .clientError), (.response(503), .serverError), (.response(7), .serverError),
            (.failed(.timedOut), .failed), (.cancelled, .cancelled), (.reset, .reset), (.unparsable, .unparsable),
            (.rejected(.queueFull, by: "Throttle"), .rejected),
        ]
        for (outcome, _) in outcomes { board.record(metric(outcome)) }
        let total = board.total
        for kind in HTTPMetric.Outcome.Kind.allCases {
            #expect(total[kind] == outcomes.count { $0.1 == kind }, "\(kind)")
        }
        // Nine came to an end by themselves, three of them well.
        #expect(total.errorRatio == 6.0 / 9)
        #expect(MetricSummary().errorRatio == 0)
    }

    @Test func rateCoversWindowOnly() {
        let board = MetricBoard(window: .seconds(10), timers: timers)
        for _ in 0..<50 { board.record(metric()) }
        #expect(board.total.rate == 5)
        timers.advance(by: .seconds(5))
        for _ in 0..<20 { board.record(metric()) }
        #expect(board.total.rate == 7)
        timers.advance(by: .seconds(5))
        #expect(board.total.rate == 2)
        timers.advance(by: .seconds(100))
        #expect(board.total.rate == 0 && board.total.count == 70)
    }

    @Test func routesBeyondTheLimitShareARow() {
        let board = MetricBoard(maximumNumberOfRows: 3, timers: timers)
        for number in 0..<1_000 { board.record(metric(route: "/\(number)")) }
        board.record(metric(route: "/1"))
        #expect(board.rows.map(\.route) == ["/0", "/1", "/2"])
        #expect(board[host: "a", route: "/1"].count == 2)
        #expect(board.overflow?.count == 997 && board.total.count == 1_001)
    }

    @Test func descriptionHasOneLinePerRow() {
        let board = MetricBoard(maximumNumberOfRows: 1, timers: timers)
        board.record(metric(milliseconds: 20))
        board.record(metric(route: "/y", .failed(.timedOut)))
        let lines = board.description.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.first?.hasPrefix("GET a/x: success 1, p50 20.0 ms") == true)
        #expect(lines.last?.hasPrefix("all others: failed 1") == true)
    }

    /// Against lists in which everything is written down.
    @Test func boardStateAgreesWithList() {
        takeWalks(seeds: 0..<200) { seed in
            var generator = SeededGenerator(seed: seed)
            var state = MetricBoardState(limit: 4, window: .seconds(10))
            var written: [(key: String, kind: HTTPMetric.Outcome.Kind, nanoseconds: Int64)] = []
            var known: [String] = []
            for _ in 0..<200 {
                let route = "/\(Int.random(in: 0..<6, using: &generator))"
                let outcome =
                    [.response(.ok), .failed(.timedOut), HTTPMetric.Outcome.cancelled]
                    .randomElement(using: &generator) ?? .reset
                let milliseconds = Int.random(in: 1...1_000, using: &generator)
                guard case .request(let metric) = metric(route: route, milliseconds: milliseconds, outcome) else {
                    continue
                }
                let key = MetricBoardState.Key(host: metric.host, method: metric.method, route: route)
                let nanoseconds = metric.duration.saturatedNanoseconds
                state.count(outcome.kind, nanoseconds: nanoseconds, for: key, at: TimerInstant(nanoseconds: 0))
                if !known.contains(route), known.count < 4 { known.append(route) }
                written.append((known.contains(route) ? route : "", outcome.kind, Int64(milliseconds) * 1_000_000))
            }
            let now = TimerInstant(nanoseconds: 0)
            var rows = state.read(at: now).map { ($0.key.route, $0.summary) }
            if let overflow = state.readOverflow(at: now) { rows.append(("", overflow)) }
            guard Set(rows.map(\.0)) == Set(written.map(\.key)) else { return "rows \(rows.map(\.0))" }
            for (route, summary) in rows {
                let mine = written.filter { $0.key == route }
                guard summary.count == mine.count, summary.rate == Double(mine.count) / 10 else {
                    return "\(route) count"
                }
                for kind in HTTPMetric.Outcome.Kind.allCases
                where summary[kind] != mine.count(where: { $0.kind == kind }) {
                    return "\(route) \(kind)"
                }
                guard summary.latency.maximum == mine.map(\.nanoseconds).max().map({ .nanoseconds($0) }) else {
                    return "\(route) maximum"
                }
            }
            return nil
        }
    }

    /// A board reads results by itself, alone and with other sinks; the forwarding sink and the filter bring it metrics.
    @Test func boardCountsResultsLikeMetrics() {
        takeWalks(seeds: 0..<20) { seed in
            var generator = SeededGenerator(seed: seed)
            let short = MetricBoard(maximumNumberOfRows: 30, timers: timers)
            let long = MetricBoard(maximumNumberOfRows: 30, timers: timers)
            let filtered = MetricBoard(maximumNumberOfRows: 30, timers: timers)
            let beside = MetricBoard(maximumNumberOfRows: 30, timers: timers)
            let forwarding = ClosureSink(isImmediate: true) { long.record($0) }
            let terminal = ScriptedTerminal { $0.path.hasSuffix("7") ? .failure(.timedOut) : .success(404) }
            let chain =
                MetricsTap(MetricRecorder(short, timers: timers))
                --> MetricsTap(MetricRecorder(forwarding, beside, timers: timers))
                --> MetricsTap(MetricRecorder(filtered, timers: timers) { _ in true }) --> terminal
            for _ in 0..<200 {
                let number = Int.random(in: 0..<40, using: &generator)
                let names = ["users", "Items", "a-b", "x%20y"]
                var request = HTTPRequest(
                    method: [.get, .post].randomElement(using: &generator) ?? .put,
                    host: ["a.test", "B.test"].randomElement(using: &generator),
                    path: "/\(names.randomElement(using: &generator) ?? "")/\(number)")
                if number % 5 == 0 { request.route = "/named/\(number)?key=1" }
                chain.load(request: request) { _ in }
            }
            let all = [short, long, filtered, beside].map(\.description)
            return Set(all).count == 1 && short.total.count == 200 ? nil : all.joined(separator: "\n and \n")
        }
    }
}
