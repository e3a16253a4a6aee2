import LoaderChain
import LoaderChainPlatformFoundation
import Testing

@testable import BenchmarkSupport

@Suite(.timeLimit(.minutes(10))) struct FleetTests {
    private static let clients = 300
    private let memory = ProcessMemory(now: { 1_000 }, peak: { 7_000 }, forget: {})

    private func run(_ way: FleetWay) -> FleetRun {
        FleetRun(way, .fleet(of: Self.clients), memory: memory, now: { 0 })
    }

    // MARK: What becomes of a fleet

    @Test func bareFleetRecoversAfterOutage() throws {
        let run = run(.bare)
        // Without retries there are never more requests than on a calm day.
        #expect(run.course.peak == run.simulation.nominal)
        let recovery = try #require(run.recovery)
        #expect((15...40).contains(recovery), "\(run.course.csv)")
    }

    @Test func naiveRetriesPreventRecovery() {
        let run = run(.naive)
        #expect(run.overload > 5)
        #expect(run.recovery == nil)
        #expect(run.course.successes[31...].allSatisfy { $0 == 0 }, "\(run.course.csv)")
    }

    @Test func chainRecoversAndSendsFewerRequestsInOutage() throws {
        let (bare, naive, chain) = (run(.bare), run(.naive), run(.chain))
        #expect(chain.requestsInOutage < bare.requestsInOutage)
        #expect(chain.requestsInOutage * 3 < naive.requestsInOutage)
        let recovery = try #require(chain.recovery)
        #expect(recovery <= 40, "\(chain.course.csv)")
    }

    /// The default strategy before, with the same delay for all failures, and now.
    @Test func splitBackoffRecoversAsSoonWithNoMoreLoad() throws {
        let (before, now) = (run(.oneDelay), run(.twoDelays))
        #expect(try #require(now.recovery) <= #require(before.recovery))
        func requests(_ run: FleetRun) -> Int { run.course.requests[30...].reduce(0, +) }
        #expect(Double(requests(now)) <= 1.1 * Double(requests(before)), "\(requests(before)), \(requests(now))")
    }

    @Test func everyRequestIsServedBeforeOutage() {
        for way in FleetWay.allCases {
            let course = run(way).course
            #expect(course.requests[1..<30].allSatisfy { $0 == 20 }, "\(way)")
            #expect(course.successes[1..<30].allSatisfy { $0 == 20 }, "\(way)")
        }
    }

    @Test func courseIsReproducibleAndIndependentOfFleetSize() throws {
        #expect(run(.chain).course == run(.chain).course)
        let larger = FleetRun(.naive, .fleet(of: 3 * Self.clients), memory: memory, now: { 0 })
        #expect(larger.recovery == nil && abs(larger.overload - run(.naive).overload) < 1)
    }

    // MARK: What is told of it

    @Test func recoveryIsSecondFromWhichAllAreServed() {
        let course = OutageCourse(requests: [9, 9, 9, 9, 9], successes: [10, 3, 10, 9, 10])
        #expect(course.second(fromWhichServed: 10) == 4)
        #expect(course.second(fromWhichServed: 9) == 2)
        #expect(course.second(fromWhichServed: 3) == 0)
        #expect(course.second(fromWhichServed: 11) == nil)
    }

    @Test func memoryIsParsedFromProcStatus() {
        let status = "Name:\tBenchmarks\nVmHWM:\t    2048 kB\nVmRSS:\t  16 kB\n"
        #expect(ProcessMemory.bytes(of: "VmRSS", in: status) == 16_384)
        #expect(ProcessMemory.bytes(of: "VmHWM", in: status) == 2_097_152)
        #expect(ProcessMemory.bytes(of: "VmSwap", in: status) == nil)
    }

    @Test func fleetCommandWritesTablesAndPlots() {
        let desk = Desk()
        desk.fleets = [30, 60]
        desk.files["a.md"] = Data(
            """
            <!-- made: fleet -->
            <!-- end -->
            <!-- made: growth -->
            <!-- end -->
            <!-- made: limits -->
            kept
            <!-- end -->
            """.utf8)
        #expect(desk.run("fleet", "--quick", "--plot", "p", "--markdown", "a.md") == 0)
        let document = String(decoding: desk.files["a.md"] ?? Data(), as: UTF8.self)
        #expect(document.contains("Abacus"))
        #expect(document.contains("kept"))
        #expect(document.contains("| 60 | naive retry |") && document.contains("| 30 | naive retry |"))
        #expect(document.components(separatedBy: "| 30 |").count == 1 + FleetWay.allCases.count)
        #expect(desk.text.contains("never"))
        #expect(Set(desk.files.keys) == ["a.md", "p/fleet-requests.svg", "p/fleet-answers.svg", "p/fleet.csv"])
        let csv = String(decoding: desk.files["p/fleet.csv"] ?? Data(), as: UTF8.self)
        #expect(csv.hasPrefix("second,requests no chain,answers no chain,requests naive retry,"))
        #expect(csv.split(separator: "\n").count == 1 + 150)
    }
}
