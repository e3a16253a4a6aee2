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
    public final class MetricKitSubscriber: NSObject, MXMetricManagerSubscriber, @unchecked Sendable {
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
            #if !os(macOS) && !os(visionOS)
                didReceive(MXMetricManager.shared.pastPayloads)
            #endif
            didReceive(MXMetricManager.shared.pastDiagnosticPayloads)
        }

        /// Receives nothing more, and lets go of itself.
        public func stop() {
            MXMetricManager.shared.remove(self)
            // The last reference may go here, and must not go under the lock.
            let held = itself.withLock { exchange(&$0, with: nil) }
            withExtendedLifetime(held) {}
        }

        #if !os(macOS) && !os(visionOS)
            /// Takes what the system has measured.
            public func didReceive(_ payloads: [MXMetricPayload]) {
                receiver.receive(payloads.map { $0.jsonRepresentation() }, as: .metrics)
            }
        #endif

        /// Takes what went wrong.
        public func didReceive(_ payloads: [MXDiagnosticPayload]) {
            receiver.receive(payloads.map { $0.jsonRepresentation() }, as: .diagnostics)
        }
    }
#endif
