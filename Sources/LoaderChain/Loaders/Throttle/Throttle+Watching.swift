extension Throttle {
    /// How many tasks run and wait in a throttle, at one instant.
    public struct Snapshot: Hashable, Sendable {
        /// The tasks of one host, or of all.
        public struct Counts: Hashable, Sendable {
            /// How many were passed on and have not ended.
            public var running: Int
            /// How many wait for their turn.
            public var waiting: Int

            /// Creates counts.
            public init(running: Int = 0, waiting: Int = 0) {
                self.running = running
                self.waiting = waiting
            }

            mutating func add(_ other: Counts) {
                running += other.running
                waiting += other.waiting
            }
        }

        /// The tasks of all hosts.
        public var total: Counts
        /// The tasks of each host that has any, by its name in lower case and its port if that is not the
        /// scheme's own, as in `localhost:8080`, or by their ``HTTPRequest/throttleKey``; empty unless the throttle counts
        /// per host.
        public var hosts: [String: Counts]
        /// The tasks of each ``ThrottlePartition``, by its name.
        public var partitions: [String: Counts]

        /// Combines counts.
        public init(total: Counts = Counts(), hosts: [String: Counts] = [:], partitions: [String: Counts] = [:]) {
            self.total = total
            self.hosts = hosts
            self.partitions = partitions
        }
    }

    /// Something that has happened to a task that waits, to a limit, or to the throttle.
    ///
    /// ```swift
    /// let throttle = Throttle(limit: 6, onEvent: { event in
    ///     if event.kind == .idle { print("nothing is under way any more") }
    /// })
    /// ```
    ///
    /// There are events only for tasks that wait: a task that starts at once has none. Events of several threads may arrive in
    /// another order than that in which they happened.
    public struct Event: Hashable, Sendable {
        /// A kind of event; there may be more kinds in the future.
        public struct Kind: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
            /// The name of the kind.
            public let rawValue: String

            /// Makes a kind of this name.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// The name of the kind.
            public var description: String { rawValue }

            /// A task has to wait.
            public static let queued = Kind(rawValue: "queued")
            /// A task that waited was passed on.
            public static let started = Kind(rawValue: "started")
            /// A task was refused, or had to leave, because the queue is full.
            public static let refused = Kind(rawValue: "refused")
            /// A task was refused, or had to leave, because of an overload, or of its low priority.
            public static let shed = Kind(rawValue: "shed")
            /// A task's time ran out while it waited, or was too short for the response.
            public static let expired = Kind(rawValue: "expired")
            /// A task that waited was cancelled, reset, or ended by another loader.
            public static let left = Kind(rawValue: "left")
            /// An adaptive limit has moved.
            public static let limitMoved = Kind(rawValue: "limitMoved")
            /// The ``Throttle/pressure`` has changed.
            public static let pressureChanged = Kind(rawValue: "pressureChanged")
            /// The last of the tasks that ran has ended; others may wait, as in a pause.
            public static let idle = Kind(rawValue: "idle")
        }

        /// The kind of the event.
        public let kind: Kind
        /// The host of the task or of the limit, named as in ``Snapshot/hosts``; nil if it is about all of them.
        public private(set) var host: String?
        /// The name of the task's partition.
        public private(set) var partition: String?
        /// The priority of the task.
        public private(set) var priority: ThrottlePriority?
        /// How long the task has waited.
        public private(set) var waited: Duration?
        /// How long tasks of its kind usually take at most, if the task has expired because less was left of its time; with an adaptive
        /// limit, that and a quarter more.
        public private(set) var usualTime: Duration?
        /// How the limit has moved.
        public private(set) var limitChange: AdaptiveLimit.Change?

        /// The pressure now.
        public private(set) var pressure: ThrottlePressure?

        private init(_ kind: Kind) { self.kind = kind }

        /// Nothing is under way any more.
        static let idle = Event(.idle)

        init(_ kind: Kind, of request: HTTPRequest, waited: Duration?, usualTime: Duration?) {
            self.init(kind)
            self.usualTime = usualTime
            host = request.throttleOrigin.description
            partition = request.throttlePartition
            priority = request.priority
            self.waited = waited
        }

        init(_ pressure: ThrottlePressure) {
            self.init(.pressureChanged)
            self.pressure = pressure
        }

        init(_ change: AdaptiveLimit.Change) {
            self.init(.limitMoved)
            host = change.host
            limitChange = change
        }
    }
}

extension Throttle.Snapshot {
    func readings(limit: UInt?, pressure: ThrottlePressure?) -> [LoaderReading] {
        var readings = total.readings("throttle", of: "tasks")
        if let limit {
            readings.append(.gauge("throttle.limit", limit, unit: "{request}", "How many tasks may run at once"))
        }
        if let pressure {
            readings.append(
                .gauge(
                    "throttle.pressure", pressure.rawValue, unit: "1",
                    "How hard it is to get a slot; zero is no pressure"))
        }
        for (name, counts) in partitions.sorted(by: { $0.key < $1.key }) {
            readings += counts.readings(
                "throttle.partition", of: "tasks of a partition", attributes: ["partition": name])
        }
        for (host, counts) in busiestHosts {
            readings += counts.readings("throttle.host", of: "tasks of a host", attributes: ["host": host])
        }
        return readings
    }

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
            .level("\(prefix).running", running, "How many \(what) run", attributes),
            .level("\(prefix).waiting", waiting, "How many \(what) wait for a slot", attributes),
        ]
    }
}
