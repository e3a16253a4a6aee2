// Apple: the subscriber to the system's payloads. Depends on Tracking; no folder uses it.

#if canImport(MetricKit) && (os(iOS) || os(macOS) || os(visionOS))
    import Foundation
    import LoaderChain
    import MetricKit

    /// Receives payloads from the system on Apple platforms.
    ///
    /// Start it once, early in the launch. The system holds its subscribers weakly, so a subscriber retains itself until
    /// ``stop()``, and you do not need to keep it.
    ///
    ///     MetricKitSubscriber(receiver).start()
    ///
    /// Starting also collects earlier payloads. The receiver ignores those that it has received in this launch.
    ///
    /// iOS and visionOS deliver metrics and diagnostics. macOS delivers diagnostics, and metrics since macOS 26.
    public final class MetricKitSubscriber: NSObject, MXMetricManagerSubscriber, Sendable {
        private let receiver: MetricKitReceiver
        private let itself = Locked<MetricKitSubscriber?>(nil)

        /// Creates a subscriber that passes all payloads to a receiver.
        public init(_ receiver: MetricKitReceiver) {
            self.receiver = receiver
            super.init()
        }

        /// Starts receiving; the subscriber retains itself from now on.
        public func start() {
            let wasRunning = itself.withLock { itself in
                let wasRunning = itself != nil
                itself = self
                return wasRunning
            }
            guard !wasRunning else { return }
            MXMetricManager.shared.add(self)
            if #available(macOS 26, *) {
                didReceive(MXMetricManager.shared.pastPayloads)
            }
            didReceive(MXMetricManager.shared.pastDiagnosticPayloads)
        }

        /// Stops receiving, and releases the subscriber.
        public func stop() {
            MXMetricManager.shared.remove(self)
            // This may be the last reference, which must not be released under the lock.
            let held = itself.withLock { replace(&$0, with: nil) }
            withExtendedLifetime(held) {}
        }

        /// Receives metrics from the system.
        public func didReceive(_ payloads: [MXMetricPayload]) {
            receiver.receive(payloads.map { $0.jsonRepresentation() }, as: .metrics)
        }

        /// Receives diagnostics from the system.
        public func didReceive(_ payloads: [MXDiagnosticPayload]) {
            receiver.receive(payloads.map { $0.jsonRepresentation() }, as: .diagnostics)
        }
    }
#endif
