// Tracking: the receiver of payloads and its trackers. Depends on all folders but Apple, which uses it.

import Dispatch
import LoaderChain
import LoaderChainPlatformFoundation
import ReportOutbox

/// Receives payloads: stores them in the outbox first, and then passes them to the trackers.
///
/// ```swift
/// let receiver = MetricKitReceiver(
///     outbox: outbox, metricsRequest: nil, diagnosticsRequest: HTTPRequest(method: .post, url: url),
///     tracking: [.attributes(applicationVersion: "1.2") { print($0) }])
/// receiver.receive([data], as: .diagnostics)
/// ```
///
/// The system waits while it delivers payloads, and there may be a dozen, each of several megabytes. Nothing is parsed while it
/// waits: the bytes are stored in the outbox unchanged, where they survive a crash, and all other work follows on a queue of the
/// receiver.
///
/// A payload that is delivered twice, such as a past payload, is handled once. After another launch it may be delivered again; the
/// outbox then gives it the same identifier, so that a server can recognize it.
public final class MetricKitReceiver: Sendable {
    /// The kind of a payload.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Metrics.
        case metrics
        /// Diagnostics.
        case diagnostics
    }

    private let outbox: ReportOutbox?
    private let requests: [Kind: HTTPRequest]
    private let tracking: [MetricKitTracking]
    private let onError: @Sendable (Data, OutboxError) -> Void
    private let later: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let known = Locked((tracked: Set<String>(), stored: Set<String>()))

    /// Creates a receiver.
    ///
    /// - Parameters:
    ///   - outbox: the outbox that stores and sends payloads; nil to store none.
    ///   - metricsRequest: the request for payloads of metrics; nil to send none.
    ///   - diagnosticsRequest: the request for payloads of diagnostics; nil to send none.
    ///   - tracking: the trackers, which are called one after the other.
    ///   - onError: a closure that receives a payload that the outbox rejected; the payload is tracked nevertheless.
    public convenience init(
        outbox: ReportOutbox?, metricsRequest: HTTPRequest?, diagnosticsRequest: HTTPRequest?,
        tracking: [MetricKitTracking] = [], onError: @escaping @Sendable (Data, OutboxError) -> Void = { _, _ in }
    ) {
        let queue = DispatchQueue(label: "MetricKitReporting.receiver", qos: .utility)
        self.init(
            outbox: outbox,
            requests: [.metrics: metricsRequest, .diagnostics: diagnosticsRequest].compactMapValues { $0 },
            tracking: tracking, onError: onError
        ) { work in queue.async(execute: work) }
    }

    /// Creates a receiver that passes its work to `later`, for tests.
    init(
        outbox: ReportOutbox?, requests: [Kind: HTTPRequest], tracking: [MetricKitTracking],
        onError: @escaping @Sendable (Data, OutboxError) -> Void,
        later: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        self.outbox = outbox
        self.requests = requests
        self.tracking = tracking
        self.onError = onError
        self.later = later
    }

    /// Receives payloads that were delivered together.
    ///
    /// When this method returns, they are stored in the outbox.
    ///
    /// - Parameters:
    ///   - payloads: the bytes of each.
    ///   - kind: their kind.
    public func receive(_ payloads: [Data], as kind: Kind) {
        var refused: [(Data, OutboxError)] = []
        var new: [Data] = []
        for data in payloads {
            let digest = SHA256.name(of: data)
            let (isNew, isStored) = known.withLock { ($0.tracked.insert(digest).inserted, $0.stored.contains(digest)) }
            if isNew { new.append(data) }
            guard !isStored, let outbox, let request = requests[kind] else { continue }
            do throws(OutboxError) {
                try outbox.submit(data, identifier: "metrickit-\(kind.rawValue)-\(digest)", request: request)
                known.withLock { _ = $0.stored.insert(digest) }
            } catch {
                // If the payload is delivered again, the outbox may accept it.
                refused.append((data, error))
            }
        }
        guard !new.isEmpty || !refused.isEmpty else { return }
        later { [tracking, onError, new, refused] in
            for (data, error) in refused { onError(data, error) }
            guard !tracking.isEmpty, !new.isEmpty else { return }
            let reports = new.map { MetricKitReport($0) }
            for tracker in tracking { tracker.take(reports) }
        }
    }
}
