// Tracking: receiving payloads and handing them on. Depends on all folders but Apple, which uses it.

import Dispatch
import LoaderChain
import LoaderChainPlatformFoundation
import ReportOutbox

/// Receives payloads: stores them in the outbox first, and then hands them to the trackers.
///
/// ```swift
/// let receiver = MetricKitReceiver(
///     outbox: outbox, metricsRequest: nil, diagnosticsRequest: HTTPRequest(method: .post, url: url),
///     tracking: [.attributes(applicationVersion: "1.2") { print($0) }])
/// receiver.receive([data], as: .diagnostics)
/// ```
///
/// The system waits while it delivers payloads, and there may be a dozen, each of megabytes. Nothing is parsed while it waits:
/// the bytes go into the outbox as they are, where they survive a crash, and everything else happens later, on a queue of the
/// receiver.
///
/// A payload that is delivered twice, as past payloads are, is handled once. After another launch it may come again; the outbox
/// then gives it the same identifier, by which a server recognizes it.
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

    /// Makes a receiver.
    ///
    /// - Parameters:
    ///   - outbox: stores payloads until they have arrived; nil to store none.
    ///   - metricsRequest: the request for payloads of metrics; nil to send none.
    ///   - diagnosticsRequest: the request for payloads of diagnostics; nil to send none.
    ///   - tracking: the trackers, which are called one after the other.
    ///   - onError: is called with a payload that the outbox refused, which is tracked nevertheless.
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

    /// Makes a receiver that hands its work to `later`, for tests.
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
    /// When this returns, they are in the outbox.
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
                // If it is delivered again, the outbox may have room for it.
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
