import DurableFilesTesting
import LineProtocol
import LoaderChain
import Testing

@testable import InfluxReporting

/// The batching state on random walks, beside a model that knows every single point.
@Suite(.timeLimit(.minutes(10))) struct BatchingWalkTests {
    @Test(arguments: 1...60, [false, true])
    func everyPointHasOneFateAndNoBoundIsBroken(seed: UInt64, isDurable: Bool) {
        var walk = BatchingWalk(seed: seed, isDurable: isDurable)
        for _ in 0..<600 { walk.step() }
        walk.finish()
        #expect(walk.faults == [], "seed \(seed), on the disk: \(isDurable)")
    }

    /// What is left of a batch has the number of its last parcel, and may have as many lines, and as many that are in no file.
    @Test func aFileIsNotTakenForWhatIsLeftOfABatch() throws {
        var settings = WriterSettings()
        settings.batchPoints = 4
        settings.maximumPoints = 16
        var state = BatchingState<Int>(BatchingLimits(settings, isDurable: true))
        let now = TimerInstant(nanoseconds: 0)
        var file = BlockFile(number: 0, precision: .nanoseconds, salt: 1)
        let lines = try (0..<4).map { number in
            let line = Array("m f=\(number)i \(number)\n".utf8)
            let dropped = state.makeRoom(for: line.count)
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
        // The lines of the second one were delivered.
        state.ended(batch[1].number, rest: batch[0]) { _ in }
        let late = BlockFile(number: 9, precision: .nanoseconds, salt: 1)
        let useless = state.keep(late, of: unsaved[1])
        #expect(useless == [late])
        #expect(state.queue.first?.files == batch[0].files)
    }
}

/// A writer without threads: its points, a clock, a disk of moods if it has one, and a server of moods.
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
    /// The points of each parcel that is held, and all of the last one that was begun.
    private var members: [UInt64: [Int]] = [:]
    private var onTheirWay: [(number: UInt64, parcels: [Parcel], points: [Int])] = []
    private var waiters: [Int: Waiter] = [:]
    private var lastFlush = 0
    private var isServerUp = true
    private(set) var faults: [String] = []

    // Of one with a disk.
    private let directory = MemoryDirectory()
    private var lastFile: UInt64 = 0
    private var isDiskUp = true
    private var writes: [(line: LineOnItsWay, point: Int)] = []
    /// The points that are in a file.
    private var saved: Set<Int> = []

    init(seed: UInt64, isDurable: Bool) {
        random = SeededGenerator(seed: seed)
        var settings = WriterSettings()
        settings.quiet = .seconds(5)
        settings.maximumAge = .seconds(15)
        settings.batchPoints = Int.random(in: 1...40, using: &random)
        settings.maximumInFlight = Int.random(in: 1...3, using: &random)
        settings.whenFull = Bool.random(using: &random) ? .dropOldest : .dropNewest
        settings.maximumPoints = Int.random(in: 20...200, using: &random)
        // Each bound is the one that is met in some of the walks.
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

    // MARK: What happens

    private mutating func accept() {
        let line = Self.line(lastPoint + 1)
        if state.isAnyUnsaved, !state.makeMemory(for: line.count) {
            if isDiskUp, unsaved(of: members.values.joined()).isEmpty {
                faults.append("a point was refused without need")
            }
            return
        }
        let mustFit = mustFit(line.count)
        guard let dropped = state.makeRoom(for: line.count) else {
            if mustFit { faults.append("a point was refused although there is room") }
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

    /// Whether a line is to be taken, since it fits or others can go for it.
    private func mustFit(_ length: Int) -> Bool {
        let frame = LineFrame.length(of: length)
        let open = Self.block(members[state.open.number] ?? [])
        let fits = state.open.points < limits.blockPoints && open.count + frame <= limits.blockBytes
        let more =
            fits && open.count > 0
            ? limits.room(of: open.count + frame) - limits.room(of: open.count) : limits.room(of: frame)
        let (points, room): (Int, Int)
        switch limits.whenFull {
        case .dropNewest: (points, room) = (state.heldPoints + 1, state.heldRoom + more)
        case .dropOldest:
            // Only what is on its way stays, and the room of a new parcel always suffices.
            points = onTheirWay.reduce(1) { $0 + $1.points.count }
            room = onTheirWay.reduce(limits.room(of: frame)) { $0 + $1.parcels.reduce(0) { $0 + $1.room } }
        }
        return points <= limits.maximumPoints && room <= limits.maximumRoom
    }

    /// One of the lines that are on their way to the disk arrives there, or does not.
    private mutating func write() {
        guard let index = writes.indices.randomElement(using: &random) else { return }
        let (line, point) = writes.remove(at: index)
        let isThere = state.wrote(line, failed: !isDiskUp)
        if isDiskUp { saved.insert(point) }
        if isThere != (fates[point] == nil) {
            faults.append("the parcel of \(point) is thought to be there: \(isThere)")
        }
    }

    /// Saves what is in memory alone.
    private mutating func save() {
        guard isDiskUp else { return }
        for parcel in state.unsavedParcels {
            let file = newFile()
            let useless = state.keep(file, of: parcel)
            if useless.contains(file) { faults.append("a file was not taken") }
            saved.formUnion(members[parcel.number] ?? [])
        }
        if !state.unsavedParcels.isEmpty { faults.append("something is still to be saved") }
    }

    private mutating func pass(_ duration: Duration) {
        let target = now.advanced(by: duration)
        while let alarm = state.nextAlarm, alarm <= target {
            // What was to be released during a pause is due at once when the pause ends early.
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
            if !areWritten { faults.append("points leave that are on their way to the disk") }
            onTheirWay.append((last.number, parcels, points))
            if onTheirWay.count > limits.maximumInFlight { faults.append("too many batches at once") }
            if state.pacing.failures > 0, onTheirWay.count > 1 { faults.append("two tried the ground") }
        }
        tell(state.takeDone())
    }

    /// The points of a parcel that leaves, as it has them.
    private mutating func take(_ parcel: Parcel) -> [Int] {
        let points = members.removeValue(forKey: parcel.number) ?? []
        if points.count != parcel.points { faults.append("a parcel of \(points.count) points has \(parcel.points)") }
        if let block = parcel.block {
            if Self.points(block) != points { faults.append("a parcel of \(points) has \(Self.points(block))") }
            if parcel.bytes != block.count - points.count * LineFrame.headLength {
                faults.append("bytes are miscounted")
            }
        } else if !saved.isSuperset(of: points) {
            faults.append("what is not in a file was let go of")
        }
        if limits.isDurable, Set(unsaved(of: points)) != Set(parcel.unsaved.lines.map { points[$0] }) {
            let isOnItsWay = writes.contains { points.contains($0.point) }
            if !isOnItsWay { faults.append("the lines in memory alone are miscounted") }
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
                room: parcels.reduce(0) { $0 + $1.room }, block: block, files: parcels.flatMap(\.files),
                unsaved: LineSet(rest.indices.filter { limits.isDurable && !saved.contains(rest[$0]) }))
        }
        var outcome = BatchOutcome()
        outcome.deliveredCount = delivered
        outcome.unnamedRejections = rejected.isEmpty ? [] : [UnnamedRejection(count: rejected.count, reason: "mood")]
        state.ended(number, rest: parcel) { $0.note(outcome) }
        if parcel != nil {
            let told: Duration? = Bool.random(using: &random) ? .seconds(7) : nil
            state.wait(from: now, told: told, roll: Double.random(in: 0..<1, using: &random))
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
        if let ended = state.giveUp(id, because: .deadline) { tell([ended]) }
    }

    private mutating func tell(_ ended: [(Waiter, FlushReport)]) {
        for (waiter, report) in ended {
            waiters = waiters.filter { $0.value !== waiter }
            let ends = waiter.points.map { point -> Fate? in self.fates[point] }
            let expected = (
                ends.filter { $0 == .delivered }.count, ends.filter { $0 == .rejected }.count,
                ends.filter { $0 == .dropped }.count, ends.filter { $0 == nil }.count
            )
            let told = (report.delivered, report.rejected, report.dropped[.noRoom] ?? 0, report.kept)
            if expected != told { faults.append("a flush was told \(told), and it was \(expected)") }
        }
    }

    private mutating func end(_ points: [Int], _ fate: Fate) {
        for point in points {
            if fates.updateValue(fate, forKey: point) != nil { faults.append("point \(point) had two fates") }
        }
    }

    // MARK: What must hold

    private mutating func check() {
        let held = came.count - fates.count
        if state.heldPoints != held { faults.append("\(state.heldPoints) are said to be held, and \(held) are") }
        if held > limits.maximumPoints { faults.append("too many points are held") }
        checkRoom()
        // Points leave in time, provided that batches are taken.
        guard onTheirWay.isEmpty, writes.isEmpty, !state.pacing.isPaused(at: now) else { return }
        let waiting = came.keys.filter { fates[$0] == nil }
        if let oldest = waiting.compactMap({ came[$0] }).min() {
            if oldest.duration(to: now) > .seconds(15) { faults.append("a point is too old") }
            if let newest = waiting.compactMap({ came[$0] }).max(), newest.duration(to: now) > .seconds(5) {
                faults.append("it has been quiet for too long")
            }
        }
        if held >= limits.batchPoints { faults.append("a batch is full and does not leave") }
    }

    private mutating func checkRoom() {
        // Counted anew.
        var total = ParcelQueue.Total()
        for parcel in state.queue.all { total.count(parcel) }
        let open = Self.block(members[state.open.number] ?? []).count
        let openRoom = open == 0 ? 0 : limits.room(of: open)
        let flying = onTheirWay.reduce(0) { $0 + $1.parcels.reduce(0) { $0 + $1.room } }
        if state.heldRoom != openRoom + total.room + flying { faults.append("the room is miscounted") }
        if state.heldRoom > limits.maximumRoom { faults.append("too much room is taken") }
        guard limits.isDurable else { return }
        if total.memory != state.queue.total.memory || total.savedMemory != state.queue.total.savedMemory {
            faults.append("the memory is miscounted")
        }
        let inMemory = state.queue.all.filter { !$0.wasTried && $0.block != nil && $0.writing == 0 }
        // What is in memory alone has no other place, and is bounded when it comes.
        let savedMemory = inMemory.filter(\.unsaved.isEmpty).reduce(0) { $0 + ($1.block?.count ?? 0) }
        if savedMemory > limits.maximumMemory { faults.append("too much is in memory, and could be left to files") }
    }

    /// Lets the server and the disk take everything.
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
        if came.count > fates.count { faults.append("\(came.count - fates.count) points never left") }
        if !waiters.isEmpty { faults.append("a flush never ended") }
        if state.heldPoints != 0 || state.heldRoom != 0 { faults.append("something is held of nothing") }
        if state.nextAlarm != nil { faults.append("an alarm is set for nothing") }
    }
}
