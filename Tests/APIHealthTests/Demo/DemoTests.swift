import Foundation
import LineProtocol
import LoaderChain
import LoaderChainTerminal
import Testing

@testable import APIHealthKit

@Suite(.timeLimit(.minutes(10))) struct DemoTests {
    private func read(_ file: String) throws -> ReportModel {
        var model = ReportModel()
        try ReportReader.read(file, precision: .nanoseconds, into: &model)
        return model
    }

    @Test func everyRequestAppearsInReportAndFile() async throws {
        let folder = try TestFolder()
        let program = TestProgram()
        var arguments = DemoArguments()
        arguments.form = .json
        arguments.patience = .seconds(600)
        arguments.stores.file = folder.path("demo.lp")
        let demo = Demo(arguments, in: program.surroundings, traffic: DemoTraffic(burst: 3))
        #expect(try await demo.run() == .success)
        let object = try JSONSerialization.jsonObject(with: Data(program.written.text.utf8))
        let report = try #require(object as? [String: Any])
        #expect(report["requests"] as? Int == 15)
        #expect((report["file"] as? [String: Any])?["points"] as? Int == 15)
        #expect(report["pointsLost"] as? Int == 0)
        let routes = try #require(report["routes"] as? [[String: Any]])
        #expect(
            routes.map { "\($0["method"] ?? "") \($0["host"] ?? "")\($0["route"] ?? "")" } == [
                "GET pay.example/v1/payments", "GET rates.example/v1/rates", "GET shop.example/v1/articles/{id}",
                "PUT shop.example/v1/cart", "GET shop.example/v1/search",
            ])
        #expect(routes.map { $0["requests"] as? Int } == [3, 3, 3, 3, 3])
        let outcomes = routes.map { $0["outcomes"] as? [String: Int] ?? [:] }
        #expect(outcomes[2] == ["success": 3])
        #expect(outcomes[4] == ["success": 3])
        for (route, outcomes) in zip(routes, outcomes) {
            #expect(outcomes.values.reduce(0, +) == 3)
            let histogram = route["histogram"] as? [String: Any]
            #expect((histogram?["counts"] as? [Int])?.reduce(0, +) == 3)
        }
        let chain = try #require(report["chain"] as? [[String: String]])
        #expect(
            chain.map { $0["name"] } == [
                "ResetGuard", "Autocancel", "ApplyEnvironment", "MetricsTap", "Throttle", "Retry", "MetricsTap",
                "CircuitBreaker", "RateLimit", "\(SystemTerminal.self)",
            ])
        #expect(chain[2]["did"] == "gave 9 requests the host shop.example")
        let model = try read(folder.path("demo.lp"))
        #expect(model.total.count == 15)
        #expect(model.badLines + model.otherPoints == 0)
        #expect(Set(model.routes.keys.map(\.host)) == ["shop.example", "rates.example", "pay.example"])
    }

    @Test func linesFormPrintsChainAndSummary() async throws {
        let folder = try TestFolder()
        let program = TestProgram()
        var arguments = DemoArguments()
        arguments.form = .lines
        arguments.patience = .seconds(600)
        arguments.stores.file = folder.path("demo.lp")
        #expect(try await Demo(arguments, in: program.surroundings, traffic: DemoTraffic(burst: 1)).run() == .success)
        let text = program.written.text
        #expect(text.hasPrefix("A demo API listens on this machine, and a chain asks it:\n  ResetGuard --> Autocancel"))
        #expect(text.contains("\n--> CircuitBreaker    all closed; opened 0 times, refused 0\n"))
        #expect(text.contains("\n5 points of metrics went to \(folder.path("demo.lp"))\n"))
        #expect(!text.contains("\u{1B}"))
    }

    @Test func terminalCursorIsRestored() async throws {
        let folder = try TestFolder()
        let program = TestProgram(isTerminal: true)
        var arguments = DemoArguments()
        arguments.patience = .seconds(600)
        arguments.stores.file = folder.path("demo.lp")
        #expect(try await Demo(arguments, in: program.surroundings, traffic: DemoTraffic(burst: 1)).run() == .success)
        let text = program.written.text
        #expect(text.hasPrefix(Escape.enterScreen + Escape.hideCursor))
        #expect(text.components(separatedBy: Escape.showCursor).count == 2)
        #expect(text.contains("\u{1B}[1mapihealth\u{1B}[0m"))
    }

    @Test func stopBeforeStartEndsDemoAtOnce() async throws {
        let folder = try TestFolder()
        let program = TestProgram()
        program.surroundings.stop.request()
        var arguments = DemoArguments()
        arguments.form = .json
        arguments.patience = .seconds(600)
        arguments.stores.file = folder.path("demo.lp")
        // An hour's worth, of which nothing is made.
        arguments.duration = .seconds(3_600)
        let demo = Demo(arguments, in: program.surroundings, traffic: DemoTraffic(seed: 1, duration: .seconds(60)))
        #expect(try await demo.run() == .success)
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(program.written.text.utf8)) as? [String: Any])
        #expect(report["requests"] as? Int == 0)
        #expect((report["file"] as? [String: Any])?["points"] as? Int == 0)
    }

    @Test func seedDeterminesTraffic() {
        func draw(_ seed: UInt64) -> [String] {
            DemoTraffic(seed: seed, duration: .seconds(10)).calls.map { "\($0.time) \($0.request)" }
        }
        let first = draw(1)
        #expect(first == draw(1))
        #expect(first != draw(2))
        let calls = DemoTraffic(seed: 7, duration: .seconds(100)).calls
        #expect(zip(calls, calls.dropFirst()).allSatisfy { $0.time <= $1.time })
        #expect(calls.allSatisfy { $0.time >= .zero && $0.time < .seconds(100) })
        for endpoint in DemoEndpoint.allCases {
            let count = Double(calls.count { $0.endpoint == endpoint })
            // Five standard deviations of what a Poisson process does.
            let expected = endpoint.rate * 100
            #expect(abs(count - expected) < 5 * expected.squareRoot(), "\(endpoint)")
        }
    }

    @Test func rationIsRenewedEverySecond() {
        let start = TimerInstant(nanoseconds: 0)
        var ration = DemoRation(perSecond: 2, at: start)
        let grants = [0, 100, 200, 999, 1_000, 1_001, 1_002, 5_000].map {
            ration.take(at: start.advanced(by: .milliseconds($0)))
        }
        #expect(grants == [true, true, false, false, true, true, false, true])
    }
}
