import LoaderChain
import LoaderChainTesting

/// A simulated outage, in a minute or more of simulated time.
///
/// Clients poll a server every few seconds. The server gets slower the more requests it has, and keeps working for clients
/// that have given up. For a while it has another problem, and responds to none of them in time.
///
/// The defaults are the outage of the article: fifty clients of an app with a bug. Whenever a request times out, the app
/// starts another timer without stopping the first.
package struct OutageSimulation: Sendable {
    package var clients = 50
    package var period = Duration.seconds(5)
    package var timeout = Duration.seconds(2)
    /// The time of a response, and what every other request in progress adds to it.
    package var latency = Duration.milliseconds(50)
    package var latencyPerRequest = Duration.milliseconds(40)
    /// The most requests that the server works on; it rejects others.
    package var mostAtOnce = Int.max
    /// The seconds in which a response takes at least this long.
    package var outage = 10..<25
    package var latencyInOutage = Duration.seconds(5)
    package var seconds = 60
    /// Whether a timeout starts another timer.
    package var hasBug = true
    /// Events within the same interval of this length happen at its end; zero for exact times.
    package var slot = Duration.zero

    package init() {}

    /// Runs the simulation, with one chain for all clients; `chain` makes the loaders in front of the server.
    package func run(through chain: (ManualTimers) -> HTTPLoader = { _ in HTTPLoader() }) -> OutageCourse {
        let timers = ManualTimers()
        return run([chain(timers)], timers)
    }

    /// Runs the simulation, with a chain for each client, as if each were a program of its own; `isBuilt` is called when all chains exist.
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
        // Ends the requests in flight, so that no retain cycle is left.
        app.stop()
        timers.runAll(limit: .max)
        return course
    }
}
