import LoaderChain
import Testing

@testable import APIHealthKit

@Suite(.timeLimit(.minutes(10))) struct FailConditionsTests {
    private func conditions(_ texts: String...) throws -> FailConditions {
        let syntax = Syntax(command: "make", summary: "Makes.", options: [FailConditions.option])
        return try FailConditions(syntax.parse(texts.flatMap { ["--fail-if", $0] }))
    }

    private static func measured(_ name: String, errors: Int, milliseconds: [Int]) -> FailConditions.Measured {
        var latency = LatencyHistogram()
        for time in milliseconds { latency.record(.milliseconds(time)) }
        return FailConditions.Measured(name: name, errors: errors, judged: milliseconds.count, latency: latency)
    }

    @Test(arguments: [
        ("p95 > 300ms", ["p95 is 400 ms at slow: “p95 > 300ms” is met"]),
        ("P50<=2s", ["p50 is 10 ms at quick: “P50<=2s” is met", "p50 is 400 ms at slow: “P50<=2s” is met"]),
        ("max >= 400 ms", ["max is 400 ms at slow: “max >= 400 ms” is met"]),
        ("p99.9 < 0.02s", ["p99.9 is 10 ms at quick: “p99.9 < 0.02s” is met"]),
        ("errors > 1%", ["errors are 25 % at quick: “errors > 1%” is met"]),
        ("errors > 25%", []), ("errors >= 25 %", ["errors are 25 % at quick: “errors >= 25 %” is met"]),
        ("p95 > 1h", []),
    ])
    func metConditionIsReportedForEachEndpoint(text: String, complaints: [String]) throws {
        let measured = [
            Self.measured("quick", errors: 1, milliseconds: [10, 10, 10, 10]),
            Self.measured("slow", errors: 0, milliseconds: [400]), Self.measured("idle", errors: 0, milliseconds: []),
        ]
        #expect(try conditions(text).complaints(about: measured) == complaints)
    }

    @Test func conditionsAreIndependent() throws {
        let both = try conditions("p95 > 300ms", "errors > 50%")
        #expect(both.areAboutErrors)
        #expect(try !conditions("max > 1s").areAboutErrors)
        #expect(both.complaints(about: [Self.measured("a", errors: 1, milliseconds: [400])]).count == 2)
        #expect(FailConditions().complaints(about: [Self.measured("a", errors: 1, milliseconds: [400])]).isEmpty)
    }

    @Test(arguments: [
        ("", "there is no metric “”; give a percentile such as p95, max or errors"),
        ("latency > 1s", "there is no metric “latency”; give a percentile such as p95, max or errors"),
        ("p101 > 1s", "there is no metric “p101”; give a percentile such as p95, max or errors"),
        ("p > 1s", "there is no metric “p”; give a percentile such as p95, max or errors"),
        ("p95", "there is no comparison “”; give >, >=, < or <="),
        ("p95 => 1s", "there is no comparison “=>”; give >, >=, < or <="),
        ("p95 > ", "“” is not a duration; give a value such as 300ms or 2s"),
        ("p95 > 300", "“300” is not a duration; give a value such as 300ms or 2s"),
        ("p95 > 1%", "“1%” is not a duration; give a value such as 300ms or 2s"),
        ("errors > 5", "“5” is not a share of the requests; give a value such as 1% or 0.5%"),
        ("errors > 101%", "“101%” is not a share of the requests; give a value such as 1% or 0.5%"),
        ("errors > -1%", "“-1%” is not a share of the requests; give a value such as 1% or 0.5%"),
    ])
    func invalidConditionIsRejectedWithAdvice(text: String, message: String) {
        let error = #expect(throws: ProgramError.self) { try conditions(text) }
        #expect(error == ProgramError(.usage, "--fail-if cannot be “\(text)”: \(message)"))
    }
}
