extension Throttle.Snapshot {
    /// What a throttle tells of itself.
    func readings(limit: UInt?, pressure: ThrottlePressure?) -> [LoaderReading] {
        var readings = total.readings("loaderchain.throttle", of: "tasks")
        if let limit {
            readings.append(
                LoaderReading(
                    "loaderchain.throttle.limit", .gauge, limit, unit: "{request}",
                    help: "How many tasks may run at once"))
        }
        if let pressure {
            readings.append(
                LoaderReading(
                    "loaderchain.throttle.pressure", .gauge, pressure.rawValue, unit: "1",
                    help: "How hard it is to get a slot; zero is no pressure"))
        }
        for (name, counts) in partitions.sorted(by: { $0.key < $1.key }) {
            readings += counts.readings(
                "loaderchain.throttle.partition", of: "tasks of a partition", attributes: ["partition": name])
        }
        for (host, counts) in busiestHosts {
            readings += counts.readings("loaderchain.throttle.host", of: "tasks of a host", attributes: ["host": host])
        }
        return readings
    }

    /// The hosts with most tasks.
    private var busiestHosts: [(key: String, value: Counts)] {
        let mostHosts = 50
        let busiest = hosts.sorted {
            ($0.value.running + $0.value.waiting, $1.key) > ($1.value.running + $1.value.waiting, $0.key)
        }
        return busiest.prefix(mostHosts).sorted { $0.key < $1.key }
    }
}

extension Throttle.Snapshot.Counts {
    fileprivate func readings(_ prefix: String, of what: String, attributes: [String: String] = [:]) -> [LoaderReading]
    {
        [
            LoaderReading(
                "\(prefix).running", .level, running, unit: "{request}", help: "How many \(what) run",
                attributes: attributes),
            LoaderReading(
                "\(prefix).waiting", .level, waiting, unit: "{request}", help: "How many \(what) wait for a slot",
                attributes: attributes),
        ]
    }
}
