import LoaderChain

/// Clients that poll a server.
final class PollingApp: Sendable {
    private let period: Duration
    private let hasBug: Bool
    private let request = HTTPRequest(host: "api.example.com", path: "/news")
    /// One for each client, or one for all.
    private let chains: [HTTPLoader]
    private let timers: SlottedTimers
    private let isOn = Locked(true)

    init(_ simulation: OutageSimulation, _ chains: [HTTPLoader], _ timers: SlottedTimers) {
        period = simulation.period
        hasBug = simulation.hasBug
        self.chains = chains
        self.timers = timers
    }

    func stop() { isOn.withLock { $0 = false } }

    func startTimer(of client: Int, after delay: Duration) {
        timers.schedule(after: delay) { if self.isOn.withLock({ $0 }) { self.tick(client) } }
    }

    private func tick(_ client: Int) {
        startTimer(of: client, after: period)
        let chain = chains[chains.count == 1 ? 0 : client]
        chain.load(request: request) { result in
            // The bug: the timer that has just fired keeps running as well.
            if self.hasBug, result.error?.code == .timedOut { self.startTimer(of: client, after: self.period) }
        }
    }
}
