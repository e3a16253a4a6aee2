import DurableFilesTesting
import LoaderChain
import LoaderChainTesting
import Testing

@testable import ReportOutbox

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A box over all its lives, on a disk that can be cut at any moment, beside what must be true of it.
///
/// The model knows nothing of how a box works: which submissions were accepted, what the server answered to whom, and what the
/// box said became of them. What a process says or does after its death counts for nothing.
final class Life: @unchecked Sendable {
    let disk = MemoryDirectory()
    let timers = ManualTimers()
    var settings: OutboxSettings
    private(set) var box: ReportOutbox?
    /// What the server says to a request; all is well unless a test says otherwise.
    let script = Locked<@Sendable (String) -> FakeServer.Answer>({ _ in .status(.ok) })
    private let book = Locked(Book())

    private struct Book {
        var step = 0
        /// What happened, to be printed where one life is looked into.
        var story: [String] = []
        /// When a report of an identifier was last accepted.
        var accepted: [String: Int] = [:]
        /// When the app last wanted one sent; whether it learned that it was accepted is another matter.
        var wanted: [String: Int] = [:]
        /// When the server last took one.
        var taken: [String: Int] = [:]
        /// When the box last said that it is done with it, and how.
        var ended: [String: (step: Int, event: ReportEvent)] = [:]
        var acknowledged: [String: Int] = [:]
        /// What the app did not want any more; how far that got is another matter.
        var purged: Set<String> = []
        var faults: [String] = []
        /// What holds at every moment.
        var laws: LifeBook?
    }

    init(durability: OutboxSettings.Durability, seed: UInt64 = 1) {
        settings = .test(timers, seed: seed)
        settings.durability = durability
        settings.maximumInFlight = 2
    }

    /// What is submitted under an identifier, always the same.
    static func content(_ id: String) -> Data {
        if id.hasPrefix("s") { return Data(id.utf8) }
        if let known = contents.withLock({ $0[id] }) { return Data(known) }
        var hash: UInt64 = 14_695_981_039_346_656_037
        for byte in id.utf8 { hash = (hash ^ UInt64(byte)) &* 1_099_511_628_211 }
        // One in four is larger than what is read and written at a time.
        let content = bytes(hash % 4 == 0 ? 150_000 + Int(hash % 1000) : Int(hash % 2000), seed: hash)
        contents.withLock { $0[id] = Array(content) }
        return content
    }

    /// As arrays, since the leak checker does not find what a `Data` points to.
    private static let contents = Locked<[String: [UInt8]]>([:])

    @discardableResult
    func open(existing: (@Sendable (ExistingReport) -> ExistingReport.Decision)? = nil) -> Bool {
        let laws = LifeBook(settings)
        let names = disk.names
        book.withLock {
            if $0.laws == nil { $0.laws = laws }
            $0.laws?.noteSetAside(names)
        }
        let server = FakeServer { [self] request, bytes in answer(request, bytes) }
        var decides: (@Sendable (ExistingReport) -> ExistingReport.Decision)?
        if let existing { decides = { [self] report in note(existing(report), about: report) } }
        box = try? ReportOutbox(
            files: disk, chain: server, settings: settings, existing: decides, onEvent: { [self] in hear($0) })
        compare()
        return box != nil
    }

    private func note(_ decision: ExistingReport.Decision, about report: ExistingReport) -> ExistingReport.Decision {
        if case .drop = decision { book.withLock { _ = $0.laws?.droppedByHandler.insert(report.id.rawValue) } }
        return decision
    }

    /// Compares what the box has, once it rests, with what it must have.
    func compare() {
        guard let box else { return }
        box.drain()
        let held = Set(box.reports.map(\.id.rawValue))
        note("the box has \(held.sorted())")
        guard !disk.isDead else { return }
        book.withLock { $0.laws?.compare(held: held) }
    }

    /// What was lost, by the reason's name.
    var losses: [String: Int] { book.withLock { $0.laws?.losses ?? [:] } }

    private func answer(_ request: HTTPRequest, _ body: Data) -> FakeServer.Answer {
        guard !disk.isDead else { return .failure(.connectionLost) }
        let key = request.headers["Idempotency-Key"] ?? ""
        let answer = script.withLock { $0 }(key)
        book.withLock { book in
            book.step += 1
            if body != Self.content(key) { book.faults.append("\(key) arrived as something else") }
            // An earlier one may be acknowledged after the app has said that it wants another, and before that is accepted.
            let asked = max(book.wanted[key] ?? 0, book.accepted[key] ?? 0)
            // A file that could not be removed is found again.
            if let acknowledged = book.acknowledged[key], acknowledged > asked, disk.failedPaths.isEmpty {
                book.faults.append("\(key) was sent again after it was delivered")
            }
            book.laws?.answered(key, answer)
            if answer.isTaken { book.taken[key] = book.step }
        }
        return answer
    }

    /// What happened so far.
    var story: String { book.withLock { $0.story }.joined(separator: "\n") }

    private func note(_ text: String) { book.withLock { $0.story.append(text) } }

    private func hear(_ event: ReportEvent) {
        note("\(disk.isDead ? "dead: " : "")\(event)")
        guard !disk.isDead else { return }
        book.withLock { book in
            book.step += 1
            book.laws?.hear(event, at: timers.now, disk)
            switch event {
            case .delivered(let id, _):
                book.ended[id.rawValue] = (book.step, event)
                book.acknowledged[id.rawValue] = book.step
                if book.taken[id.rawValue] == nil { book.faults.append("\(id) is said to be delivered, and never was") }
            case .setAside(_, .duplicate): break
            case .dropped(let id, _), .setAside(let id, _): book.ended[id.rawValue] = (book.step, event)
            case .accepted(let id):
                book.accepted[id.rawValue] = book.step
                book.purged.remove(id.rawValue)
            case .joined, .found, .sending, .willRetry, .foreignFiles, .trouble: break
            }
        }
    }

    @discardableResult
    func submit(_ id: String, _ priority: ReportPriority = .normal) -> OutboxError? {
        guard let box else { return nil }
        let before = want(id)
        do throws(OutboxError) {
            try box.submit(Self.content(id), identifier: id, request: upload, priority: priority)
            // What a process is told after its death counts for nothing.
            if disk.isDead { book.withLock { $0.accepted[id] = before } }
            return nil
        } catch {
            return error
        }
    }

    private func want(_ id: String) -> Int? {
        book.withLock { book in
            book.step += 1
            book.wanted[id] = book.step
            return book.accepted[id]
        }
    }

    func retry(_ id: String) {
        guard let box, let report = ReportID(id) else { return }
        compare()
        guard box.reportsSetAside.contains(where: { $0.id == report }),
            !box.reports.contains(where: { $0.id == report })
        else { return }
        _ = want(id)
        let undo = book.withLock { $0.laws?.willRetry(id, at: timers.now) }
        do { try box.retry(report) } catch { book.withLock { if $0.laws != nil { undo?(&$0.laws!) } } }
    }

    func purge(_ id: String) {
        guard let box, let report = ReportID(id) else { return }
        book.withLock {
            $0.purged.insert(id)
            $0.laws?.purges(id)
        }
        box.purge(report)
    }

    func setConsent(_ consent: ReportConsent) {
        if consent == .denied { book.withLock { $0.laws?.wasConsentDenied = true } }
        guard let engine = box?.engine else { return }
        // On the box's own queue, where an attempt that is stopped ends afterwards: so a life always takes the same course, and
        // what happened just before a death is among the last operations.
        engine.enqueue { engine.setConsent(consent) }
        engine.drain()
    }

    /// Sets the wall clock to so much beside the right time.
    func setClock(off offset: Duration) {
        let passed = TimerInstant(nanoseconds: 0).duration(to: timers.now)
        book.withLock { $0.laws?.setClock(off: offset) }
        timers.setDate(ManualTimers.defaultDate.addingTimeInterval((passed + offset) / .seconds(1)))
    }

    /// Turns over a bit of a report's file, or removes it as another program would.
    func hurt(_ random: RandomSource) {
        compare()
        let files = disk.names.filter { $0.hasSuffix(RecordName.suffix) }
        let vanishes = random.chance(0.2)
        guard !files.isEmpty, case .name(let name) = RecordName.read(files[Int(random.next() % UInt64(files.count))])
        else { return }
        book.withLock {
            $0.laws?.hurt.insert(name.id.rawValue)
            if vanishes { $0.laws?.vanished.insert(name.id.rawValue) }
        }
        if vanishes { disk.vanish(name.text) } else { disk.flipBit(Int(random.next() >> 32), in: name.text) }
    }

    func drain() { box?.drain() }

    func advance(_ seconds: Int) { timers.advance(by: .seconds(seconds), draining: drain) }

    /// Ends the process, and lets the next one find what is left.
    func end(powerIsLost: Bool = false) {
        drain()
        note("the end, after \(disk.log.suffix(6)); \(disk.names)")
        disk.kill()
        let last = disk.logAtDeath
        book.withLock { book in
            let (taken, accepted) = (book.taken, book.accepted)
            // The server took it, or its file was removed or set aside, and the process ended before it could say so.
            book.laws?.died(losesNames: powerIsLost && disk.failedPaths.contains("")) { id in
                taken[id] ?? -1 > accepted[id] ?? 0 || last.contains { $0.contains("-\(id).report") }
            }
        }
        box?.abandon()
        drain()
        let engine = box?.engine
        box = nil
        // What the last reference to the box leaves to be done would be done to the next one's directory.
        engine?.drain()
        disk.revive(afterPowerLoss: powerIsLost)
    }

    /// Opens the box once more with a disk and a server that work, waits until it is empty, and says what is wrong.
    func faults() async -> [String] {
        script.withLock { $0 = { _ in .status(.ok) } }
        disk.cut(nil)
        disk.weather(nil)
        disk.limit(.max)
        guard open() else { return ["The box does not open"] }
        box?.tryNow()
        compare()
        var rounds = 0
        while let box, box.count > 0, rounds < 50 {
            advance(4_000)
            rounds += 1
        }
        compare()
        var faults = book.withLock { $0.faults + ($0.laws?.faults ?? []) }
        if let box, box.count > 0 { faults.append("\(box.count) reports do not leave the box") }
        faults += disk.names.filter { $0.hasPrefix("tmp-") }.map { "\($0) outlived the sweep" }
        let aside = Set(box?.reportsSetAside.map(\.id.rawValue) ?? [])
        book.withLock { book in
            for (id, accepted) in book.accepted {
                if let taken = book.taken[id], taken > accepted { continue }
                if let ended = book.ended[id], ended.step > accepted { continue }
                if aside.contains(id) || book.purged.contains(id) { continue }
                if book.laws?.mayHaveLeft(id) == true { continue }
                faults.append("\(id) was accepted and is lost")
            }
        }
        await box?.close()
        box = nil
        return faults
    }
}
