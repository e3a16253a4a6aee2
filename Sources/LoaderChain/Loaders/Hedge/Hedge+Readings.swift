extension HedgeDesk {
    /// What a hedge tells of itself.
    func readings(running: Int, hedged: Int) -> [LoaderReading] {
        let (snapshot, remaining) = (snapshot, remaining)
        func level(_ name: String, _ value: Int, _ help: String) -> LoaderReading {
            LoaderReading("loaderchain.hedge.\(name)", .level, value, unit: "{request}", help: help)
        }
        func counter(_ name: String, _ value: Int, _ help: String, _ attributes: [String: String] = [:])
            -> LoaderReading
        {
            LoaderReading(
                "loaderchain.hedge.\(name)", .counter, value, unit: "{request}", help: help, attributes: attributes)
        }
        let counts = [
            level("running", running, "How many requests are hedged if they are slow"),
            level("hedged", hedged, "How many requests have two attempts under way"),
            counter("requests", snapshot.requests, "How many requests came that may be hedged"),
            counter("sent", snapshot.sent, "How many second attempts were sent"),
            counter("won", snapshot.won, "How many second attempts had the response"),
            counter("lost", snapshot.lost, "How many second attempts were of no use"),
            LoaderReading(
                "loaderchain.hedge.budget.remaining", .gauge, remaining, unit: "{attempt}",
                help: "How many second attempts the requests have paid for"),
        ]
        let suppressed = snapshot.suppressed.sorted { $0.key.rawValue < $1.key.rawValue }.map { reason, count in
            counter("suppressed", count, "How many requests were not hedged", ["reason": reason.rawValue])
        }
        return counts + suppressed
    }
}
