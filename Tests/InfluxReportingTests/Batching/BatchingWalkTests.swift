import DurableFilesTesting
import LineProtocol
import LoaderChain
import Testing

@testable import InfluxReporting

/// The batching state on random walks, compared with a model that tracks every point.
@Suite(.timeLimit(.minutes(10))) struct BatchingWalkTests {
    @Test(arguments: 1...60, [false, true])
    func everyPointHasOneOutcomeWithinLimits(seed: UInt64, isDurable: Bool) {
        var walk = BatchingWalk(seed: seed, isDurable: isDurable)
        for _ in 0..<600 { walk.step() }
        walk.finish()
        #expect(walk.faults == [], "seed \(seed), on the disk: \(isDurable)")
    }

    /// The rest of a batch has the number of its last parcel, and possibly the same numbers of lines and of unsaved lines.
    @Test func lateFileIsRefusedForRestOfBatch() throws {
        var settings = WriterSettings()
        settings.batchPoints = 4
        settings.maximumPoints = 16
        var state = BatchingState<Int>(BatchingLimits(settings, isDurable: true))
        let now = TimerInstant(nanoseconds: 0)
        var file = BlockFile(number: 0, precision: .nanoseconds, salt: 1)
        let lines = try (0..<4).map { number in
            let line = Array("m f=\(number)i \(number)\n".utf8)
            let dropped = state.makeSpace(for: line.count)
            #expect(dropped?.isEmpty == true)
            if state.open.journal == nil {
                file = BlockFile(number: file.number + 1, precision: .nanoseconds, salt: 1)
                state.begin(BlockJournal(file, in: MemoryDirectory()))
            }
            let journal = try #require(state.open.journal)
            return line.withUnsafeBytes { state.add($0, at: now, writing: journal).line }
        }
        for (index, line) in lines.enumerated() {
            let isThere = state.wrote(line, failed: index.isMultiple(of: 2))
            #expect(isThere)
        }
        state.release()
        let unsaved = state.unsavedParcels
        let next = state.nextBatch(at: now)
        let batch = try #require(next)
        #expect(unsaved.map(\.number) == batch.map(\.number) && batch.count == 2)
        // The lines of the second parcel were delivered.
        state.ended(batch[1].number, at: now, rest: batch[0]) { _ in }
        let late = BlockFile(number: 9, precision: .nanoseconds, salt: 1)
        let useless = state.keep(late, of: unsaved[1])
        #expect(useless == [late])
        #expect(state.queue.first?.files == batch[0].files)
    }
}

/// A writer without threads: its points, a clock, an unreliable server, and optionally an unreliable disk.
private struct BatchingWalk {
    private enum Fate: Hashable { case delivered, rejected, dropped }
    private final class Waiter {
        let points: Set<Int>
        init(_ points: Set<Int>) { self.points = points }
    }

    private var random: SeededGenerator
    private let limits: BatchingLimits
    private var state: BatchingState<Waiter>
    private var now = TimerInstant(nanoseconds: 0)
    private var came: [Int: TimerInstant] = [:]
    private var fates: [Int: Fate] = [:]
    private var lastPoint = 0
    /// The points of each held parcel, and all points of the newest parcel.
    private var members: [UInt64: [Int]] = [:]
    private var onTheirWay: [(number: UInt64, parcels: [Parcel], points: [Int])] = []
    private var waiters: [Int: Waiter] = [:]
    private var lastFlush = 0
    private var isServerUp = true
    private(set) var faults: [String] = []

    // For a writer with a disk.
    private let directory = MemoryDirectory()
    private var lastFile: UInt64 = 0
    private var isDiskUp = true
    private var writes: [(line: LineOnItsWay, point: Int)] = []
    /// The points that are in a file.
    private var saved: Set<Int> = []

    init(seed: UInt64, isDurable: Bool) {
        random = SeededGenerator(seed: seed)
        var settings = WriterSettings()
        settings.idleInterval = .seconds(5)
        settings.maximumAge = .seconds(15)
        settings.batchPoints = Int.random(in: 1...40, using: &random)
        settings.maximumInFlight = Int.random(in: 1...3, using: &random)
        settings.whenFull = Bool.random(using: &random) ? .dropOldest : .dropNewest
        settings.maximumPoints = Int.random(in: 20...200, using: &random)
        // Each limit is the first to be reached in some of the walks.
        settings.maximumBytes = Int.random(in: 1...20_000, using: &random)
        settings.maximumDiskBytes = Int.random(in: 1...200_000, using: &random)
        settings.batchBytes = Int.random(in: 1...8_000, using: &random)
        limits = BatchingLimits(settings, isDurable: isDurable)
        state = BatchingState(limits)
    }

    mutating func step() {
        switch Int.random(in: 0..<100, using: &random) {
        case ..<55: accept()
        case ..<75: pass(.milliseconds(Int.random(in: 1...3_000, using: &random)))
        case ..<93: answer()
        case ..<96: flush()
        case ..<98: isServerUp.toggle()
        default: giveUp()
        }
        if limits.isDurable {
            switch Int.random(in: 0..<100, using: &random) {
            case ..<60: write()
            case ..<65: isDiskUp.toggle()
            case ..<70: save()
            default: break
            }
        }
        advance()
        check()
    }

    /// A line of a point; some are long.
    private static func line(_ point: Int) -> [UInt8] {
        Array("\(point) \(String(repeating: "x", count: point % 50 == 0 ? 700 : point % 30))\n".utf8)
    }

    private static func block(_ points: [Int]) -> LineBlock {
        var block = LineBlock()
        for point in points { line(point).withUnsafeBytes { block.append($0) } }
        return block
    }

    private static func points(_ block: LineBlock) -> [Int] {
        var points: [Int] = []
        block.forEachLine { line in
            let text = String(decoding: line, as: UTF8.self)
            points.append(text.split(separator: " ").first.flatMap { Int($0) } ?? -1)
        }
        return points
    }

    // MARK: Actions

    private mutating func accept() {
        let line = Self.line(lastPoint + 1)
        if state.isAnyUnsaved, !state.makeMemory(for: line.count) {
            if isDiskUp, unsaved(of: members.values.joined()).isEmpty {
                faults.append("a point was refused without need")
            }
            return
        }
        let mustFit = mustFit(line.count)
        guard let dropped = state.makeSpace(for: line.count) else {
            if mustFit { faults.append("a point was refused although there is space") }
            return
        }
        if limits.whenFull == .dropNewest, !dropped.isEmpty { faults.append("the oldest were dropped") }
        for parcel in dropped {
            let points = take(parcel)
            if let oldest = members.values.joined().min(), points.contains(where: { $0 > oldest }) {
                faults.append("\(points) were dropped, and \(oldest) is older")
            }
            end(points, .dropped)
        }
        lastPoint += 1
        came[lastPoint] = now
        members[state.open.number, default: []].append(lastPoint)
        line.withUnsafeBytes { line in
            guard limits.isDurable else {
                _ = state.add(line, at: now)
                return
            }
            if state.open.journal == nil { state.begin(BlockJournal(newFile(), in: directory)) }
            guard let journal = state.open.journal else { return }
            writes.append((state.add(line, at: now, writing: journal).line, lastPoint))
        }
    }

    private mutating func newFile() -> BlockFile {
        lastFile += 1
        return BlockFile(number: lastFile, precision: .nanoseconds, salt: 0)
    }

    /// Whether a line must be accepted, because it fits or others can be dropped for it.
    private func mustFit(_ length: Int) -> Bool {
        let frame = LineFrame.length(of: length)
        let open = Self.block(members[state.open.number] ?? [])
        let fits = state.open.points < limits.blockPoints && open.count + frame <= limits.blockBytes
        let more =
            fits && open.count > 0
            ? limits.footprint(of: open.count + frame) - limits.footprint(of: open.count) : limits.footprint(of: frame)
        let (points, footprint): (Int, Int)
        switch limits.whenFull {
        case .dropNewest: (points, footprint) = (state.heldPoints + 1, state.heldFootprint + more)
        case .dropOldest:
            // Only batches in flight stay, and a new parcel always fits beside them.
            points = onTheirWay.reduce(1) { $0 + $1.points.count }
            footprint = onTheirWay.reduce(limits.footprint(of: frame)) {
                $0 + $1.parcels.reduce(0) { $0 + $1.footprint }
            }
        }
        return points <= limits.maximumPoints && footprint <= limits.maximumFootprint
    }

    /// Finishes one of the writes in progress, with or without success.
    private mutating func write() {
        guard let index = writes.indices.randomElement(using: &random) else { return }
        let (line, point) = writes.remove(at: index)
        let isThere = state.wrote(line, failed: !isDiskUp)
        if isDiskUp { saved.insert(point) }
        if isThere != (fates[point] == nil) {
            faults.append("the parcel of \(point) is reported as existing: \(isThere)")
        }
    }

    /// Saves the lines that are only in memory.
    private mutating func save() {
        guard isDiskUp else { return }
        for parcel in state.unsavedParcels {
            let file = newFile()
            let useless = state.keep(file, of: parcel)
            if useless.contains(file) { faults.append("a file was not accepted") }
            saved.formUnion(members[parcel.number] ?? [])
        }
        if !state.unsavedParcels.isEmpty { faults.append("lines are still unsaved") }
    }

    private mutating func pass(_ duration: Duration) {
        let target = now.advanced(by: duration)
        while let alarm = state.nextAlarm, alarm <= target {
            // Points that became due during a pause are sent at once when the pause ends early.
            if alarm < now, state.pacing.pausedUntil != nil { faults.append("the alarm is set for the past") }
            now = max(now, alarm)
            state.pass(to: now)
            advance()
        }
        now = target
    }

    private mutating func advance() {
        while let parcels = state.nextBatch(at: now) {
            guard let last = parcels.last else {
                faults.append("an empty batch")
                return
            }
            let points = parcels.flatMap { take($0) }
            if points != points.sorted() { faults.append("\(points) are out of order") }
            if parcels.count > 1,
                points.count > limits.batchPoints || parcels.reduce(0, { $0 + $1.bytes }) > limits.batchBytes
            {
                faults.append("a batch is too large")
            }
            let areWritten = !writes.contains { points.contains($0.point) }
            if !areWritten { faults.append("points are sent that are being written to the disk") }
            onTheirWay.append((last.number, parcels, points))
            if onTheirWay.count > limits.maximumInFlight { faults.append("too many batches at once") }
            if state.pacing.failures > 0, onTheirWay.count > 1 { faults.append("two batches probe the server") }
        }
        check(state.takeDone())
    }

    /// The points of a parcel that is sent.
    private mutating func take(_ parcel: Parcel) -> [Int] {
        let points = members.removeValue(forKey: parcel.number) ?? []
        if points.count != parcel.points { faults.append("a parcel of \(points.count) points counts \(parcel.points)") }
        if let block = parcel.block {
            if Self.points(block) != points { faults.append("a parcel of \(points) has \(Self.points(block))") }
            if parcel.bytes != block.count - points.count * LineFrame.headLength {
                faults.append("bytes are miscounted")
            }
        } else if !saved.isSuperset(of: points) {
            faults.append("lines that are in no file were removed from memory")
        }
        if limits.isDurable, Set(unsaved(of: points)) != Set(parcel.unsaved.lines.map { points[$0] }) {
            let isOnItsWay = writes.contains { points.contains($0.point) }
            if !isOnItsWay { faults.append("the lines that are only in memory are miscounted") }
        }
        return points
    }

    private func unsaved(of points: some Sequence<Int>) -> [Int] {
        limits.isDurable
            ? points.filter { point in !saved.contains(point) && !writes.contains { $0.point == point } } : []
    }

    private mutating func answer() {
        guard !onTheirWay.isEmpty else { return }
        let (number, parcels, points) = onTheirWay.remove(at: Int.random(in: 0..<onTheirWay.count, using: &random))
        let rejected = points.filter { _ in Int.random(in: 0..<20, using: &random) == 0 }
        let others = points.filter { !rejected.contains($0) }
        let delivered = isServerUp ? others.count : Int.random(in: 0...others.count / 2, using: &random)
        let rest = Array(others.dropFirst(delivered))
        end(rejected, .rejected)
        end(Array(others.prefix(delivered)), .delivered)
        var parcel: Parcel?
        if !rest.isEmpty {
            let block = Self.block(rest)
            members[number] = rest
            parcel = Parcel(
                number: number, points: rest.count, bytes: block.count - rest.count * LineFrame.headLength,
                footprint: parcels.reduce(0) { $0 + $1.footprint }, block: block, files: parcels.flatMap(\.files),
                unsaved: LineSet(rest.indices.filter { limits.isDurable && !saved.contains(rest[$0]) }))
        }
        var outcome = BatchOutcome()
        outcome.deliveredCount = delivered
        outcome.unnamedRejections = rejected.isEmpty ? [] : [UnnamedRejection(count: rejected.count, reason: "mood")]
        state.ended(number, at: now, rest: parcel) { $0.note(outcome) }
        if parcel != nil {
            let delay: Duration? = Bool.random(using: &random) ? .seconds(7) : nil
            state.wait(from: now, requested: delay, roll: Double.random(in: 0..<1, using: &random))
        }
    }

    private mutating func flush() {
        lastFlush += 1
        let waiter = Waiter(Set(came.keys).subtracting(fates.keys))
        waiters[lastFlush] = waiter
        state.flush(waiter, id: lastFlush)
    }

    private mutating func giveUp() {
        guard let id = waiters.keys.sorted().randomElement(using: &random) else { return }
        if let ended = state.giveUp(id, because: .deadline) { check([ended]) }
    }

    private mutating func check(_ ended: [(Waiter, FlushReport)]) {
        for (waiter, report) in ended {
            waiters = waiters.filter { $0.value !== waiter }
            let ends = waiter.points.map { point -> Fate? in self.fates[point] }
            let expected = (
                ends.filter { $0 == .delivered }.count, ends.filter { $0 == .rejected }.count,
                ends.filter { $0 == .dropped }.count, ends.filter { $0 == nil }.count
            )
            let reported = (report.delivered, report.rejected, report.dropped[.bufferFull] ?? 0, report.pending)
            if expected != reported { faults.append("a flush reported \(reported) instead of \(expected)") }
        }
    }

    private mutating func end(_ points: [Int], _ fate: Fate) {
        for point in points {
            if fates.updateValue(fate, forKey: point) != nil { faults.append("point \(point) had two outcomes") }
        }
    }

    // MARK: Invariants

    private mutating func check() {
        let held = came.count - fates.count
        if state.heldPoints != held {
            faults.append("\(state.heldPoints) points are counted as held instead of \(held)")
        }
        if held > limits.maximumPoints { faults.append("too many points are held") }
        checkRoom()
        // Points are sent in time, provided that batches are taken.
        guard onTheirWay.isEmpty, writes.isEmpty, !state.pacing.isPaused(at: now) else { return }
        let waiting = came.keys.filter { fates[$0] == nil }
        if let oldest = waiting.compactMap({ came[$0] }).min() {
            if oldest.duration(to: now) > .seconds(15) { faults.append("a point is too old") }
            if let newest = waiting.compactMap({ came[$0] }).max(), newest.duration(to: now) > .seconds(5) {
                faults.append("the idle interval has passed")
            }
        }
        if held >= limits.batchPoints { faults.append("a full batch is not sent") }
    }

    private mutating func checkRoom() {
        // Counted independently.
        var total = ParcelQueue.Total()
        for parcel in state.queue.all { total.count(parcel) }
        let open = Self.block(members[state.open.number] ?? []).count
        let openFootprint = open == 0 ? 0 : limits.footprint(of: open)
        let inFlightTotal = onTheirWay.reduce(0) { $0 + $1.parcels.reduce(0) { $0 + $1.footprint } }
        if state.heldFootprint != openFootprint + total.footprint + inFlightTotal {
            faults.append("the footprint is miscounted")
        }
        if state.heldFootprint > limits.maximumFootprint { faults.append("the footprint exceeds its limit") }
        guard limits.isDurable else { return }
        // Batches that were sent before are not counted in memory, so that there must be few.
        if onTheirWay.count + state.queue.all.count(where: \.wasTried) > limits.maximumInFlight {
            faults.append("more batches are in memory than may be in flight")
        }
        if total.memory != state.queue.total.memory || total.savedMemory != state.queue.total.savedMemory {
            faults.append("the memory is miscounted")
        }
        let inMemory = state.queue.all.filter { !$0.wasTried && $0.block != nil && $0.writing == 0 }
        // Lines that are only in memory cannot be removed from it; they are limited when they are added.
        let savedMemory = inMemory.filter(\.unsaved.isEmpty).reduce(0) { $0 + ($1.block?.count ?? 0) }
        if savedMemory > limits.maximumMemory {
            faults.append("memory exceeds its limit although files have the lines")
        }
    }

    /// Makes the server and the disk accept everything.
    mutating func finish() {
        (isServerUp, isDiskUp) = (true, true)
        while !writes.isEmpty { write() }
        flush()
        advance()
        var rounds = 0
        while came.count > fates.count || !waiters.isEmpty, rounds < 10_000 {
            pass(.seconds(1))
            answer()
            advance()
            rounds += 1
        }
        if came.count > fates.count { faults.append("\(came.count - fates.count) points were never settled") }
        if !waiters.isEmpty { faults.append("a flush never ended") }
        if state.heldPoints != 0 || state.heldFootprint != 0 { faults.append("an empty state holds something") }
        if state.nextAlarm != nil { faults.append("an alarm is set for nothing") }
    }
}
