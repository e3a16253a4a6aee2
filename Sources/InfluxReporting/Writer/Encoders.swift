import LineProtocol
import LoaderChain

/// The pool of a writer's encoders: a line is written outside the lock, because a user's code may write it.
struct Encoders {
    /// The encoders that are not in use.
    private var scratches: [Scratch] = []
    /// All repairs so far, except those of points that are being written.
    private(set) var repairs = Repairs()
    private var lent: UInt64 = 0
    private let template: LineEncoder

    /// The largest buffer that is kept; an encoder's also grows for a line or a name that is too long to be written.
    private static let largestBuffer = 64 << 10
    private static let mostScratches = 64

    init(_ settings: WriterSettings, _ dialect: LineDialect) {
        template = LineEncoder(
            precision: settings.precision, defaults: settings.tags, dialect: dialect, capacity: 64)
    }

    /// Takes an encoder out of the pool, with a nudge for the time of its point.
    @inline(__always)
    mutating func lend() -> (scratch: Scratch, nudge: Int64) {
        lent &+= 1
        return (scratches.popLast() ?? makeScratch(), TimeNudge.of(lent))
    }

    @inline(never)
    private func makeScratch() -> Scratch {
        Scratch(
            LineEncoder(
                precision: template.precision, defaults: template.defaults, dialect: template.dialect, capacity: 1_024))
    }

    @inline(__always)
    mutating func takeBack(_ scratch: Scratch) {
        if !scratch.encoder.repairs.isEmpty { repairs += scratch.encoder.takeRepairs() }
        guard scratch.encoder.capacity <= Self.largestBuffer, scratches.count < Self.mostScratches else { return }
        scratch.encoder.removeAll()
        scratches.append(scratch)
    }
}

/// An encoder of the pool; a class, so that passing it on moves a reference and never copies the buffer.
final class Scratch: @unchecked Sendable {
    var encoder: LineEncoder

    init(_ encoder: LineEncoder) { self.encoder = encoder }
}
