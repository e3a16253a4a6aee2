// Tracking: receiving payloads and handing them on. Depends on all folders but Printing and Apple; Apple uses it.

import Dispatch
import LoaderChain
import ReportOutbox

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Takes payloads as they come: into the box first, and then to everybody who wants to know what they say.
///
/// ```swift
/// let receiver = MetricKitReceiver(
///     outbox: outbox, metricsRequest: nil, diagnosticsRequest: HTTPRequest(method: .post, url: url),
///     tracking: [.attributes(applicationVersion: "1.2") { print($0) }])
/// receiver.receive([data], as: .diagnostics)
/// ```
///
/// The system waits for whoever it hands payloads to, and there may be a dozen, of megabytes. So nothing is read while it waits:
/// the bytes go into the box as they are, where they survive whatever comes, and all else happens later, on a queue of the
/// receiver's own.
///
/// A payload that comes twice, as past payloads do, is taken once. At another launch it may come again; then the box gives it
/// the same identifier, by which a server can tell.
public final class MetricKitReceiver: Sendable {
    /// What a payload is about.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// What the system has measured.
        case metrics
        /// What went wrong.
        case diagnostics
    }

    private let outbox: ReportOutbox?
    private let requests: [Kind: HTTPRequest]
    private let tracking: [MetricKitTracking]
    private let onError: @Sendable (Data, OutboxError) -> Void
    private let later: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let known = Guarded((tracked: Set<PayloadDigest>(), stored: Set<PayloadDigest>()))

    /// Makes a receiver.
    ///
    /// - Parameters:
    ///   - outbox: where payloads are kept until they have arrived; nil to keep none.
    ///   - metricsRequest: how payloads of metrics are sent; nil to send none.
    ///   - diagnosticsRequest: how payloads of diagnostics are sent; nil to send none.
    ///   - tracking: who wants to know what payloads say. They are called one after the other.
    ///   - onError: is called with a payload that the box refused, which is tracked nevertheless.
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

    /// Makes a receiver whose work is done when somebody else says, as a test does.
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

    /// Takes payloads that came together.
    ///
    /// When this returns, they are in the box.
    ///
    /// - Parameters:
    ///   - payloads: the bytes of each.
    ///   - kind: what they are about.
    public func receive(_ payloads: [Data], as kind: Kind) {
        var refused: [(Data, OutboxError)] = []
        var new: [Data] = []
        for data in payloads {
            let digest = PayloadDigest(data)
            let (isNew, isStored) = known.withLock { ($0.tracked.insert(digest).inserted, $0.stored.contains(digest)) }
            if isNew { new.append(data) }
            guard !isStored, let outbox, let request = requests[kind] else { continue }
            do throws(OutboxError) {
                try outbox.submit(data, identifier: "metrickit-\(kind.rawValue)-\(digest.text)", request: request)
                known.withLock { _ = $0.stored.insert(digest) }
            } catch {
                // If it comes again, there may be room for it.
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
