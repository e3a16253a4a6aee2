import AllocationCounter
import BenchmarkSupport
import LoaderChainPlatformC

@main
enum Main {
    static func main() {
        let suite = Suite()
        suite.add(floorBenchmarks())
        suite.add(chainBenchmarks())
        suite.add(requestBenchmarks())
        suite.add(nodeBenchmarks())
        suite.add(timerBenchmarks())
        suite.add(throttleBenchmarks())
        suite.add(throttlePeerBenchmarks())
        suite.add(retryBenchmarks())
        suite.add(metricsBenchmarks())
        suite.add(lineProtocolBenchmarks())
        suite.add(lineProtocolGrowthBenchmarks())
        suite.add(lineProtocolPeerBenchmarks())
        suite.add(streamBenchmarks())
        suite.add(terminalBenchmarks())
        suite.add(curlBenchmarks())
        suite.add(outboxBenchmarks())
        suite.add(influxSendingBenchmarks())
        suite.add(metricKitBenchmarks())
        suite.add(writerBenchmarks())
        for figure in throttleFigures() + lineProtocolFigures() { suite.add(figure) }

        #if DEBUG
            print("This is a debug build; its times mean nothing. Use: swift run -c release Benchmarks\n")
        #endif
        let meter = AllocationMeter(start: allocation_counting_start, stop: allocation_counting_stop)
        let program = Program(suite, meter: allocation_counting_is_supported() ? meter : nil)
        exit(program.run(Array(CommandLine.arguments.dropFirst())))
    }
}
