import DurableFiles
import LineProtocol
import LoaderChain
import LoaderChainPlatformC

/// Takes points: a point becomes a line, and the line lies in a block before the call returns.
extension WriterEngine {
    /// Takes a point in, which `write` writes into an encoder, under no lock.
    ///
    /// - Parameter write: is given the encoder, and a number for a ``TimeNudge``.
    /// - Returns: what became of the point.
    @inline(__always)
    func take(_ write: (inout LineEncoder, Int64) -> Void) -> WriteResult {
        let index = ThreadStripe.index(among: stripes.count)
        let stripe = stripes[index]
        let (scratch, number) = stripe.withLock { $0.lend() }
        write(&scratch.encoder, TimeNudge.of(number &* UInt64(stripes.count) &+ UInt64(index)))
        guard !scratch.encoder.isEmpty else { return losePoint(stripe, scratch) }
        let now = timers.now
        if isDurable { return takeDurably(stripe, scratch, at: now) }
        let taking = stripe.withLock { stripe in
            let taking = scratch.encoder.withUnsafeBytes { stripe.take($0, at: now) }
            if taking == .taken { stripe.takeBack(scratch) }
            return taking
        }
        return taking == .taken ? .inMemory : takeSlowly(stripe, scratch, taking, nil, at: now)
    }

    /// A line in a block, that is to be written to the block's file.
    struct Frame {
        let block: LineBlock
        let journal: any DurableFile
        let start: Int
        let bytes: UnsafeRawBufferPointer
        /// The number of the line in its block.
        let number: Int

        /// The line that was taken in last; its block is not complete before it is written.
        init?(lastOf block: LineBlock?, length: Int) {
            guard let block, let journal = block.journal else { return nil }
            self.block = block
            self.journal = journal
            (start, bytes) = block.lastFrame(of: length)
            number = block.points - 1
            block.beginWrite()
        }
    }

    /// Takes a line in and writes it to its block's file, on the calling thread and under no lock.
    @inline(never)
    private func takeDurably(_ stripe: Locked<Stripe>, _ scratch: Scratch, at now: TimerInstant) -> WriteResult {
        let length = scratch.encoder.count
        var frame: Frame?
        let taking = stripe.withLock { stripe in
            let taking = scratch.encoder.withUnsafeBytes { stripe.take($0, at: now) }
            if taking != .noRoom { frame = Frame(lastOf: stripe.block, length: length) }
            if taking == .taken { stripe.takeBack(scratch) }
            return taking
        }
        return taking == .taken ? save(frame) : takeSlowly(stripe, scratch, taking, frame, at: now)
    }

    /// Writes a line to its block's file, if it has one.
    private func save(_ frame: Frame?) -> WriteResult {
        if let frame, write(frame) { return .saved }
        // If there is no file, the disk failed when the block was made, which was told then.
        if isDurable { shared.withLock { $0.statistics.unsaved += 1 } }
        return .inMemory
    }

    /// Takes a point in if there is room for it without dropping another one.
    ///
    /// - Returns: What became of the point. If there is no room, it was not counted, and may be tried again.
    private func takeIfThereIsRoom(_ write: (inout LineEncoder, Int64) -> Void) -> WriteResult {
        let index = ThreadStripe.index(among: stripes.count)
        let stripe = stripes[index]
        let (scratch, number) = stripe.withLock { $0.lend() }
        write(&scratch.encoder, TimeNudge.of(number &* UInt64(stripes.count) &+ UInt64(index)))
        guard !scratch.encoder.isEmpty else { return losePoint(stripe, scratch) }
        return takeSlowly(stripe, scratch, .noRoom, nil, at: timers.now, mayDrop: false)
    }

    /// Counts a point that has no line.
    @inline(never)
    private func losePoint(_ stripe: Locked<Stripe>, _ scratch: Scratch) -> WriteResult {
        stripe.withLock { stripe in
            stripe.accepted += 1
            stripe.takeBack(scratch)
        }
        lose(.notEncodable)
        return .dropped(.notEncodable)
    }

    /// Counts a point as lost, and has it told.
    private func lose(_ reason: DropReason) {
        let isFirst = shared.withLock { shared in
            let isFirst = shared.hasToldDrops
            shared.drop(1, reason)
            return isFirst
        }
        if isFirst { tellDrops() }
    }

    /// Takes in a line that is the first in a while, fills its block, or needs another block.
    @inline(never)
    private func takeSlowly(
        _ stripe: Locked<Stripe>, _ scratch: Scratch, _ taking: Stripe.Taking, _ frame: Frame?, at now: TimerInstant,
        mayDrop: Bool = true
    ) -> WriteResult {
        var frame = frame
        if taking == .noRoom {
            switch takeIntoNewBlock(stripe, scratch, &frame, at: now, mayDrop: mayDrop) {
            case .success: break
            case .failure(let refusal):
                let isLost = mayDrop || !refusal.reason.isForNow
                stripe.withLock { stripe in
                    if isLost { stripe.accepted += 1 }
                    stripe.takeBack(scratch)
                }
                if isLost { lose(refusal.reason) }
                return .dropped(refusal.reason)
            }
        }
        // Before the block is handed in, which is held in memory while lines are on their way to its file.
        let result = save(frame)
        let wasQuiet = stripe.withLock { stripe in
            if let block = stripe.block, block.isFull {
                handIn(block)
                stripe.block = nil
            }
            stripe.takeBack(scratch)
            return replace(&stripe.isQuiet, with: false)
        }
        if wasQuiet { wake(at: now) }
        advance()
        return result
    }

    private struct Refusal: Error { let reason: DropReason }

    /// Hands in what the stripe has, if anything, and takes the line into another block.
    private func takeIntoNewBlock(
        _ stripe: Locked<Stripe>, _ scratch: Scratch, _ frame: inout Frame?, at now: TimerInstant, mayDrop: Bool
    ) -> Result<Stripe.Taking, Refusal> {
        let length = LineFrame.length(of: scratch.encoder.count)
        guard scratch.encoder.count <= limits.batchBytes, length <= limits.maximumRoom else {
            return .failure(Refusal(reason: .tooLarge))
        }
        let isLarge = length > limits.blockRoom
        let (points, room) = (isLarge ? 1 : limits.blockPoints, isLarge ? length : limits.blockRoom)
        var prepared: LineBlock?
        while true {
            var dropped: [HeldLines] = []
            let answer: Result<Stripe.Taking, Refusal>? = stripe.withLock { stripe in
                // Another thread may have brought one meanwhile.
                let taking = scratch.encoder.withUnsafeBytes { stripe.take($0, at: now) }
                if taking != .noRoom {
                    frame = Frame(lastOf: stripe.block, length: scratch.encoder.count)
                    if let block = prepared, shared.withLock({ $0.keep(block) }) { prepared = nil }
                    return .success(taking)
                }
                if let block = stripe.block {
                    stripe.block = nil
                    handIn(block)
                }
                switch shared.withLock({
                    $0.grantBlock(&prepared, points: points, room: room, mayDrop: mayDrop, dropped: &dropped)
                }) {
                case .given(let block):
                    stripe.block = block
                    let taking = scratch.encoder.withUnsafeBytes { stripe.take($0, at: now) }
                    frame = Frame(lastOf: block, length: scratch.encoder.count)
                    return .success(taking)
                case .toBeMade: return nil
                case .refused(let reason): return .failure(Refusal(reason: reason))
                }
            }
            if !dropped.isEmpty { removeDropped(dropped) }
            if let answer {
                // A block that was made for nothing does not leave its file behind.
                if let file = prepared?.file { remove([file]) }
                return answer
            }
            prepared = makeBlock(room: room, points: points)
        }
    }
}

/// Which stripe a thread uses: always the same one, and another than most other threads.
private enum ThreadStripe {
    @inline(__always)
    static func index(among count: Int) -> Int {
        #if canImport(Darwin) || canImport(Musl)
            let thread = UInt(bitPattern: pthread_self())
        #else
            let thread = UInt(pthread_self())
        #endif
        // The lower bits of the address are alike, and a product scatters the others into its upper ones.
        let scattered = UInt64(thread >> 6) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: (scattered >> 32) &* UInt64(count) >> 32)
    }
}

/// Writes that wait for room instead of dropping anything.
extension WriterEngine {
    func takeWhenThereIsRoom(
        _ write: (inout LineEncoder, Int64) -> Void
    ) async throws(CancellationError) -> WriteResult {
        while true {
            if Task.isCancelled { throw CancellationError() }
            let moment = room.moment
            let result = takeIfThereIsRoom(write)
            guard let reason = result.dropReason, reason.isForNow else { return result }
            // What fills the room is sent, also what would have waited for more.
            gather()
            shared.withLock { $0.batching.gathered() }
            advance()
            await room.wait(since: moment)
        }
    }
}

extension DropReason {
    /// Whether there may be room later.
    fileprivate var isForNow: Bool { self == .noRoom || self == .disk }
}

/// Where writes wait for room.
///
/// A write that finds no room has asked for the ``moment`` before, and waits only if no room was made since. So no write misses the
/// room that was made between its try and its wait.
final class RoomGate: Sendable {
    private struct State {
        var moment: UInt64 = 0
        var lastID = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Locked(State())

    /// A number that changes each time room is made.
    var moment: UInt64 { state.withLock { $0.moment } }

    var waiting: Int { state.withLock { $0.waiters.count } }

    /// Notes that room was made: all waiting writes try again.
    func open() {
        let waiters = state.withLock { state in
            state.moment += 1
            return replace(&state.waiters, with: [:])
        }
        for waiter in waiters.values { waiter.resume() }
    }

    /// Waits until room is made, unless it was made since a moment, or until the Swift task is cancelled.
    func wait(since moment: UInt64) async {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    guard state.moment == moment else { return false }
                    state.waiters[id] = continuation
                    return true
                }
                // A task is marked as cancelled before its handler runs, which may have found nothing to resume.
                if !waits { continuation.resume() } else if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func cancel(_ id: Int) { state.withLock { $0.waiters.removeValue(forKey: id) }?.resume() }
}
