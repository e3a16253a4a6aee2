import Foundation
import LoaderChain
import LoaderChainTesting
import LoaderChainURLSession
import Steps

@main
enum Main {
    static func main() async throws {
        let terminal = ScriptedTerminal { _ in .success() }

        section("What a metric holds")
        let board = MetricBoard()
        let log = EventLog()
        let metrics = MetricRecorder(board, ClosureSink { record in if let text = told(record) { log.note(text) } })
        let chain =
            MetricsTap(metrics, module: "shop") --> Throttle(maximumNumberOfRequests: 4)
            --> Retry(.immediately(maximumNumberOfAttempts: 3)) --> Validate(.success)
            --> ScriptedTerminal { $0.path == "/down" ? .success(.serviceUnavailable) : .success() }
        _ = try await chain.load(HTTPRequest(host: "api.example.com", path: "/users/17"))
        show(await outcome(of: HTTPRequest(host: "api.example.com", path: "/down"), from: chain))
        await metrics.flush()
        for event in log.events { show(event) }
        for row in board.rows { show("\(row.method) \(row.host)\(row.route)") }

        section("Where the tap belongs")
        let layers = EventLog()
        let both = MetricRecorder(
            ClosureSink { record in
                guard case .request(let metric) = record else { return }
                layers.note("\(metric.tags["layer"] ?? ""): \(metric.outcome), attempts \(metric.attempts)")
            })
        let flaky = MockLoader().then(.serviceUnavailable).then(.ok)
        let twice =
            MetricsTap(both, tags: ["layer": "task"])
            --> Retry(.immediately(maximumNumberOfAttempts: 2))
            --> MetricsTap(both, tags: ["layer": "attempt"]) --> Validate() --> flaky
        _ = try await twice.load(HTTPRequest(host: "api.example.com"))
        await both.flush()
        for event in layers.events { show(event) }

        section("Where the time went")
        let server = try LoopbackServer()
        server.fallback { _ in .ok("hello") }
        let kept = EventLog()
        let phases = MetricRecorder(
            ClosureSink { record in
                guard case .request(let metric) = record else { return }
                kept.note("a metric has phases: \(metric.phases != nil)")
            })
        for recordsPhases in [false, true] {
            let measuring = MetricsTap(phases, recordsPhases: recordsPhases) --> URLSessionLoader()
            let response = try await measuring.load(HTTPRequest(url: server.url("/")))
            if recordsPhases { show("the wait is known: \(response.metrics?.phases?.waiting != nil)") }
        }
        await phases.flush()
        for event in kept.events { show(event) }
        server.stop()

        section("Cardinality")
        let routes = MetricBoard()
        let tapped = MetricsTap(routes) --> terminal
        let paths = [
            "/v2/users/17", "/v2/users/18", "/orders/2026-11-20", "/files/f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
            "/people/ada%20lovelace", "/articles/why-we-wait",
        ]
        for path in paths { _ = try await tapped.load(HTTPRequest(host: "api.example.com", path: path)) }
        var request = HTTPRequest(host: "api.example.com", path: "/articles/why-we-measure")
        request.route = "/articles/{title}"
        request.metricModule = "reader"
        request.metricOrigin = "search"
        request.metricTags = ["plan": "free"]
        _ = try await tapped.load(request)
        for row in routes.rows { show("\(row.route): \(row.summary[.success])") }

        section("Sinks")
        let errors = MetricBoard()
        let errorsAlone = MetricRecorder(errors, random: RandomSource(seed: 1)) { record in
            if case .request(let metric) = record { metric.outcome.kind.isError } else { true }
        }
        let failing = MetricsTap(errorsAlone) --> MockLoader().then(.ok).then(failing: .timedOut)
        for _ in 1...2 { show(await outcome(of: HTTPRequest(host: "api.example.com"), from: failing)) }
        for row in errors.rows { show("\(row.route): ratio of errors \(row.summary.errorRatio)") }

        section("Events and traces")
        try await trace()

        section("Names in OpenTelemetry")
        let metric = HTTPMetric(
            start: Date(), duration: .milliseconds(12), host: "api.example.com", port: 443, route: "/users/{id}",
            attempts: 2, status: .ok, outcome: .response(.ok))
        let attributes = metric.openTelemetryAttributes.map { "\($0.key) = \($0.value)" }
        for attribute in attributes.sorted() { show(attribute) }
    }

    static func told(_ record: MetricRecord) -> String? {
        guard case .request(let metric) = record else { return nil }
        return "\(metric.module ?? "") \(metric.route): \(metric.outcome), attempts \(metric.attempts)"
    }

    struct User: Codable, Sendable { var name: String }

    static func trace() async throws {
        let log = EventLog()
        let metrics = MetricRecorder(
            ClosureSink { record in
                switch record {
                case .request: break
                case .event(let event): log.note("event \(event.name): \(event.counters), \(event.attributes)")
                case .trace(let trace): log.note("trace \(trace.name): \(trace.counters), \(trace.attributes)")
                }
            })
        metrics.event("cart opened", counters: ["items": 3], attributes: ["plan": "free"])
        let trace = metrics.startTrace("checkout")
        trace.increment("steps")
        trace.set("payment", to: "card")
        trace.stop()
        let user = try await metrics.trace("parse profile") { _ in
            try JSONDecoder().decode(User.self, from: Data(#"{"name":"Ada"}"#.utf8))
        }
        show(user.name)
        await metrics.flush()
        for event in log.events { show(event) }
    }
}
