extension Throttle {
    /// How many tasks run and wait in a throttle, at one instant.
    public struct Snapshot: Hashable, Sendable {
        /// The tasks of one host, or of all.
        public struct Counts: Hashable, Sendable {
            /// How many were passed on and have not ended.
            public var running: Int
            /// How many wait for their turn.
            public var waiting: Int

            /// Counts so many.
            public init(running: Int = 0, waiting: Int = 0) {
                self.running = running
                self.waiting = waiting
            }
        }

        /// The tasks of all hosts.
        public var total: Counts
        /// The tasks of each host that has any, by its name in lower case and its port if that is not the
        /// scheme's own, as in `localhost:8080`; empty unless the throttle counts per host.
        public var hosts: [String: Counts]

        /// Combines counts.
        public init(total: Counts = Counts(), hosts: [String: Counts] = [:]) {
            self.total = total
            self.hosts = hosts
        }
    }
}
