extension OutageSimulation {
    /// A number of apps that send a request to one server every fifteen seconds, and an outage of a minute.
    ///
    /// The server could handle half as many requests again. It queues what it can handle in six seconds, and clients give up
    /// after five: so it handles the end of a full queue in vain.
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

    /// How many requests the clients send in a second.
    var nominal: Int { Int((Double(clients) / (period / .seconds(1))).rounded()) }
}
