// Apple: the subscriber to the system's payloads. Depends on Tracking; no folder uses it.

#if canImport(MetricKit) && (os(iOS) || os(macOS) || os(visionOS))
    import Foundation
    import LoaderChain
    import MetricKit

    /// Receives payloads from the system, on Apple systems.
    ///
    /// Start it once, early in the launch. The system holds its subscribers weakly, so this one holds itself until ``stop()``, and
    /// nobody needs to keep it.
    ///
    ///     MetricKitSubscriber(receiver).start()
    ///
    /// Starting picks up what the system has delivered before, too. The receiver knows what it has had already.
    ///
    /// iOS and visionOS deliver metrics and diagnostics. macOS delivers diagnostics, and metrics since macOS 26.
    public final class MetricKitSubscriber: NSObject, MXMetricManagerSubscriber, Sendable {
        private let receiver: MetricKitReceiver
        private let itself = Guarded<MetricKitSubscriber?>(nil)

        /// Makes a subscriber that hands everything to a receiver.
        public init(_ receiver: MetricKitReceiver) {
            self.receiver = receiver
            super.init()
        }

        /// Starts to receive, and holds itself from now on.
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

        /// Receives nothing more, and lets go of itself.
        public func stop() {
            MXMetricManager.shared.remove(self)
            // The last reference may go here, and must not go under the lock.
            let held = itself.withLock { exchange(&$0, with: nil) }
            withExtendedLifetime(held) {}
        }

        /// Takes what the system has measured.
        @available(macOS 26, *)
        public func didReceive(_ payloads: [MXMetricPayload]) {
            receiver.receive(payloads.map { $0.jsonRepresentation() }, as: .metrics)
        }

        /// Takes what went wrong.
        public func didReceive(_ payloads: [MXDiagnosticPayload]) {
            receiver.receive(payloads.map { $0.jsonRepresentation() }, as: .diagnostics)
        }
    }
#endif
