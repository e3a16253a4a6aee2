import LineProtocol
import LoaderChain

/// One of several places where points are taken in, each with a lock, a block that is being filled, and encoders.
///
/// A line is written outside the lock into an encoder that is lent out, because a user's code may write it, and then copied
/// into the block under the lock.
struct Stripe {
    /// The block that is being filled; nil if there is none at the moment.
    var block: LineBlock?
    /// Encoders that are not in use.
    private var scratches: [Scratch] = []
    /// Whether the engine must be told when the next point comes.
    var isQuiet = true
    /// When the last point came.
    private(set) var newest = TimerInstant(nanoseconds: .min)
    /// How many points were handed in.
    var accepted = 0
    /// What was repaired by encoders that were discarded.
    private var repairs = Repairs()
    private var lent: UInt64 = 0
    private let template: LineEncoder

    /// The longest text for which an encoder's memory is kept.
    private static let longestText = 64 << 10
    private static let mostScratches = 16

    init(_ template: LineEncoder) { self.template = template }

    /// Lends an encoder, and numbers the loans.
    @inline(__always)
    mutating func lend() -> (scratch: Scratch, number: UInt64) {
        lent &+= 1
        return (scratches.popLast() ?? makeScratch(), lent)
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
        if scratch.encoder.count > Self.longestText || scratches.count >= Self.mostScratches {
            repairs += scratch.encoder.repairs
            return
        }
        scratch.encoder.removeAll()
        scratches.append(scratch)
    }

    /// All repairs so far, except those of points that are being encoded now.
    var allRepairs: Repairs {
        var all = repairs
        for scratch in scratches { all += scratch.encoder.repairs }
        return all
    }

    /// What became of a line that was offered.
    enum Taking {
        case taken
        /// It was taken, and the engine must be told: it is the first in a while, or fills its block.
        case takenNotably
        /// There is no block, or it has no room for this line.
        case noRoom
    }

    /// Takes a line in, if there is room.
    @inline(__always)
    mutating func take(_ line: UnsafeRawBufferPointer, at now: TimerInstant) -> Taking {
        guard let block, block.append(line) else { return .noRoom }
        accepted &+= 1
        if now > newest { newest = now }
        return isQuiet || block.isFull ? .takenNotably : .taken
    }
}

/// An encoder on loan.
///
/// It is an object, so that lending it moves a reference and never copies what is being written.
final class Scratch: @unchecked Sendable {
    var encoder: LineEncoder

    init(_ encoder: LineEncoder) { self.encoder = encoder }
}
