#if canImport(Network)
    import Dispatch
    import LoaderChain
    import Network

    extension ReportOutbox {
        /// Pauses sending while no network is available, or none that the settings allow, for as long as you keep the returned
        /// value.
        ///
        /// It observes the system's path monitor, and calls ``setNetwork(isAvailable:conditions:)``. On a watch it does nothing, because
        /// the monitor sees no network there, although a session has one.
        public func followNetwork() -> some Sendable {
            let monitor = NWPathMonitor()
            monitor.pathUpdateHandler = { [weak self] path in
                var conditions: NetworkConditions = []
                if path.isExpensive { conditions.insert(.metered) }
                if path.isConstrained { conditions.insert(.constrained) }
                self?.setNetwork(isAvailable: path.status != .unsatisfied, conditions: conditions)
            }
            #if !os(watchOS)
                monitor.start(queue: DispatchQueue(label: "ReportOutbox.network"))
            #endif
            return NetworkFollowing(monitor: monitor)
        }
    }

    private final class NetworkFollowing: Sendable {
        private let monitor: NWPathMonitor
        init(monitor: NWPathMonitor) { self.monitor = monitor }
        deinit { monitor.cancel() }
    }
#endif
