import LoaderChain
import LoaderChainTesting

/// An outage, in a minute or more of invented time.
///
/// Clients ask a server every few seconds. The server takes the longer the more it has to do, and goes on working for
/// clients that have given up. For a while something else is wrong, and it answers nobody in time.
///
/// As it stands, it is the outage of the article: fifty clients of an app with a bug. Whenever a request times out, the
/// app starts another timer without stopping the first.
package struct OutageSimulation: Sendable {
    package var clients = 50
    package var period = Duration.seconds(5)
    package var timeout = Duration.seconds(2)
    /// What an answer takes, and what everything that the server is busy with adds to that.
    package var latency = Duration.milliseconds(50)
    package var latencyPerRequest = Duration.milliseconds(40)
    /// What the server is busy with at most; it turns away what comes then.
    package var mostAtOnce = Int.max
    /// From when to when an answer takes this long at least.
    package var outage = 10..<25
    package var latencyInOutage = Duration.seconds(5)
    package var seconds = 60
    /// Whether a timeout starts another timer.
    package var hasBug = true
    /// What falls due within the same stretch of this length happens at its end; zero for an exact course.
    package var slot = Duration.zero

    package init() {}

    /// Lets the time pass, with what `chain` makes of the loaders before the server: one chain for all clients.
    package func run(through chain: (ManualTimers) -> HTTPLoader = { _ in HTTPLoader() }) -> OutageCourse {
        let timers = ManualTimers()
        return run([chain(timers)], timers)
    }

    /// Lets the time pass, with a chain for each client, as if each were a program of its own.
    ///
    /// `isBuilt` is called once all the chains are there.
    package func run(
        throughEach chain: (ManualTimers) -> HTTPLoader, isBuilt: () -> Void = {}
    ) -> OutageCourse {
        let timers = ManualTimers()
        let chains = (0..<clients).map { _ in chain(timers) }
        isBuilt()
        return run(chains, timers)
    }

    private func run(_ chains: [HTTPLoader], _ timers: ManualTimers) -> OutageCourse {
        let slots = SlottedTimers(timers, slot: slot)
        let server = SlowingServer(self, slots)
        for chain in chains { chain --> server }
        let app = PollingApp(self, chains, slots)
        for client in 0..<clients { app.startTimer(of: client, after: period * (2 * client + 1) / (2 * clients)) }
        for _ in 0..<seconds {
            server.beginSecond()
            timers.advance(by: .seconds(1))
        }
        let course = server.course
        // What is on its way ends, so that nothing is left that holds the other.
        app.stop()
        timers.runAll(limit: .max)
        return course
    }
}
