/// Decides which traces are recorded.
///
/// ```swift
/// let sampler = TraceSampler.parent(otherwise: .ratio(0.1))
/// ```
public struct TraceSampler: Hashable, Sendable {
    /// The least value of a trace's last 56 bits for which the trace is recorded; nil for no trace.
    private let threshold: UInt64?
    private var followsParent = false

    /// Records every trace, also where the parent does not.
    public static let always = TraceSampler.ratio(1)

    /// Records no trace, also where the parent does.
    public static let never = TraceSampler.ratio(0)

    /// Records a share of all traces, from 0 to 1; NaN stands for 1.
    ///
    /// The trace's identifier decides, so that all programs with the same share record the same traces.
    public static func ratio(_ share: Double) -> TraceSampler {
        let share = share.isNaN ? 1 : min(max(0, share), 1)
        // The product is at most 2⁵⁶, so it fits.
        return TraceSampler(threshold: share == 0 ? nil : UInt64(((1 - share) * 0x1p56).rounded()))
    }

    /// Records what the parent records; for a request without one, `sampler` decides.
    public static func parent(otherwise sampler: TraceSampler = .always) -> TraceSampler {
        var sampler = sampler
        sampler.followsParent = true
        return sampler
    }

    private init(threshold: UInt64?) { self.threshold = threshold }

    /// Whether a trace is recorded.
    ///
    /// - Parameters:
    ///   - traceID: the trace.
    ///   - parent: whether the parent records it; nil without a parent.
    public func records(_ traceID: TraceID, parent: Bool?) -> Bool {
        if followsParent, let parent { return parent }
        guard let threshold else { return false }
        // The first byte need not be random (W3C Trace Context, level 2).
        return traceID.low & 0x00FF_FFFF_FFFF_FFFF >= threshold
    }
}
