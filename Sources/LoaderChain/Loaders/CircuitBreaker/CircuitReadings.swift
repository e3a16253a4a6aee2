/// What a breaker tells of its circuits.
struct CircuitReadings {
    private let states: [(host: String?, state: CircuitBreaker.State)]
    private let openings: Int

    /// How many hosts are named that are not reachable.
    private static var mostHosts: Int { 50 }

    init(_ circuits: [Circuit], openings: Int) {
        states = circuits.map { ($0.host, $0.name) }
        self.openings = openings
    }

    var all: [LoaderReading] {
        let circuits = [CircuitBreaker.State.closed, .open, .halfOpen].map { state in
            LoaderReading(
                "loaderchain.circuit_breaker.circuits", .level, states.count { $0.state == state }, unit: "{circuit}",
                help: "How many circuits are in a state", attributes: ["state": state.rawValue])
        }
        let opened = LoaderReading(
            "loaderchain.circuit_breaker.opened", .counter, openings, unit: "{change}",
            help: "How often a circuit has opened")
        return circuits + [opened] + brokenHosts
    }

    private var brokenHosts: [LoaderReading] {
        let broken = states.filter { $0.host != nil && $0.state != .closed }.sorted { $0.host ?? "" < $1.host ?? "" }
        return broken.prefix(Self.mostHosts).map { host, state in
            LoaderReading(
                "loaderchain.circuit_breaker.broken", .level, 1, unit: "{circuit}",
                help: "The hosts whose circuit is open or half open",
                attributes: ["host": host ?? "", "state": state.rawValue])
        }
    }
}
