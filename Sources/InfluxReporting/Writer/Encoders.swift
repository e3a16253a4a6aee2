import LineProtocol
import LoaderChain

/// The encoders of a writer, which are lent out: a line is written under no lock, because a user's code may write it.
struct Encoders {
    /// Those that are not in use.
    private var scratches: [Scratch] = []
    /// All repairs so far, except those of points that are being written.
    private(set) var repairs = Repairs()
    private var lent: UInt64 = 0
    private let template: LineEncoder

    /// The longest text for which an encoder's memory is kept.
    private static let longestText = 64 << 10
    private static let mostScratches = 64

    init(_ settings: WriterSettings, _ dialect: LineDialect) {
        template = LineEncoder(
            precision: settings.precision, defaults: settings.tags, dialect: dialect, capacity: 64)
    }

    /// Lends an encoder, and a nudge for the time of its point.
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

    /// Takes an encoder back.
    @inline(__always)
    mutating func takeBack(_ scratch: Scratch) {
        if !scratch.encoder.repairs.isEmpty { repairs += scratch.encoder.takeRepairs() }
        guard scratch.encoder.count <= Self.longestText, scratches.count < Self.mostScratches else { return }
        scratch.encoder.removeAll()
        scratches.append(scratch)
    }
}

/// An encoder on loan.
///
/// It is an object, so that lending it moves a reference and never copies what is being written.
final class Scratch: @unchecked Sendable {
    var encoder: LineEncoder

    init(_ encoder: LineEncoder) { self.encoder = encoder }
}
