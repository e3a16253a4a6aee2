extension OutageSimulation {
    /// So many apps that ask one server every fifteen seconds, and an outage of a minute.
    ///
    /// The server could do half as much again as they ask of it. It takes in what it can do in six seconds, and clients
    /// give up after five: so what is at the end of a full queue is answered in vain.
    package static func fleet(of clients: Int) -> OutageSimulation {
        var fleet = OutageSimulation()
        fleet.clients = clients
        fleet.hasBug = false
        fleet.period = .seconds(15)
        fleet.timeout = .seconds(5)
        fleet.latencyPerRequest = fleet.period * 2 / (3 * clients)
        fleet.mostAtOnce = Int(Duration.seconds(6) / fleet.latencyPerRequest)
        fleet.outage = 30..<90
        fleet.latencyInOutage = .seconds(20)
        fleet.seconds = 150
        fleet.slot = .milliseconds(10)
        return fleet
    }

    /// How many of them ask in a second.
    var nominal: Int { Int((Double(clients) / (period / .seconds(1))).rounded()) }
}
