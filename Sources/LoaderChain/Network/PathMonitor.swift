#if canImport(Network)
    import Dispatch
    import Network

    /// What the path monitor of Apple systems says.
    final class PathMonitor: NetworkSource {
        private let monitor = NWPathMonitor()
        private let state = Locked(NetworkState())

        init() {
            monitor.pathUpdateHandler = { [weak self] path in self?.note(path.status != .unsatisfied) }
            monitor.start(queue: DispatchQueue(label: "LoaderChain.network"))
        }

        deinit { monitor.cancel() }

        var isAvailable: Bool { state.withLock { $0.isAvailable } }

        func watch(_ onChange: @escaping @Sendable (Bool) -> Void) -> NetworkWatch {
            let number = state.withLock { $0.add(onChange) }
            return NetworkWatch { [weak self] in
                let listener = self?.state.withLock { $0.remove(number) }
                withExtendedLifetime(listener) {}
            }
        }

        private func note(_ isAvailable: Bool) {
            for listener in state.withLock({ $0.note(isAvailable) }) { listener(isAvailable) }
        }
    }
#endif
