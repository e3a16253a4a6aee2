import DurableFilesTesting
import LoaderChain
import LoaderChainPlatformFoundation
import LoaderChainTesting
import Testing

@testable import ReportOutbox

/// An outbox over all its lives, on a disk that can fail at any moment, together with its invariants.
///
/// The model is independent of the implementation: it knows the accepted submissions, the server's answers, and the outcomes that
/// the outbox reported. Events and requests of a process after its death are ignored.
final class Life: @unchecked Sendable {
    let disk = MemoryDirectory()
    let timers = ManualTimers()
    var settings: OutboxSettings
    private(set) var outbox: ReportOutbox?
    /// The server's answer to a request; success unless a test sets another one.
    let script = Locked<@Sendable (String) -> FakeServer.Answer>({ _ in .status(.ok) })
    private let book = Locked(Book())

    private struct Book {
        var step = 0
        /// A log, printed for the investigation of a single life.
        var story: [String] = []
        /// The time at which a report with an identifier was last accepted.
        var accepted: [String: Int] = [:]
        /// The time at which the app last submitted one, whether or not the result arrived.
        var wanted: [String: Int] = [:]
        /// The time at which the server last accepted one.
        var taken: [String: Int] = [:]
        /// The time and the outcome that the outbox last reported.
        var ended: [String: (step: Int, event: ReportEvent)] = [:]
        var acknowledged: [String: Int] = [:]
        /// The reports that the app purged, whether or not that was completed.
        var purged: Set<String> = []
        var faults: [String] = []
        /// The invariants at every moment.
        var laws: LifeBook?
    }

    init(durability: OutboxSettings.Durability, seed: UInt64 = 1) {
        settings = .test(timers, seed: seed)
        settings.durability = durability
        settings.maximumInFlight = 2
    }

    /// The content for an identifier, always the same.
    static func content(_ id: String) -> Data {
        if id.hasPrefix("s") { return Data(id.utf8) }
        if let known = contents.withLock({ $0[id] }) { return Data(known) }
        var hash: UInt64 = 14_695_981_039_346_656_037
        for byte in id.utf8 { hash = (hash ^ UInt64(byte)) &* 1_099_511_628_211 }
        // One in four is larger than a piece.
        let content = bytes(hash % 4 == 0 ? 150_000 + Int(hash % 1000) : Int(hash % 2000), seed: hash)
        contents.withLock { $0[id] = Array(content) }
        return content
    }

    /// As arrays, because the leak checker does not follow the pointers in `Data`.
    private static let contents = Locked<[String: [UInt8]]>([:])

    @discardableResult
    func open(existing: (@Sendable (ExistingReport) -> ExistingReport.Decision)? = nil) -> Bool {
        let laws = LifeBook(settings)
        let names = disk.names
        book.withLock {
            if $0.laws == nil { $0.laws = laws }
            $0.laws?.noteDeadLetter(names)
        }
        let server = FakeServer { [self] request, bytes in answer(request, bytes) }
        var decides: (@Sendable (ExistingReport) -> ExistingReport.Decision)?
        if let existing { decides = { [self] report in note(existing(report), about: report) } }
        outbox = try? ReportOutbox(
            files: disk, chain: server, settings: settings, existing: decides, onEvent: { [self] in hear($0) })
        compare()
        return outbox != nil
    }

    private func note(_ decision: ExistingReport.Decision, about report: ExistingReport) -> ExistingReport.Decision {
        if case .drop = decision { book.withLock { _ = $0.laws?.droppedByHandler.insert(report.id.rawValue) } }
        return decision
    }

    /// Compares the contents of the idle outbox with the expected ones.
    func compare() {
        guard let outbox else { return }
        outbox.drain()
        let held = Set(outbox.reports.map(\.id.rawValue))
        note("the outbox has \(held.sorted())")
        guard !disk.isDead else { return }
        book.withLock { $0.laws?.compare(held: held) }
    }

    /// The lost reports, by the name of the reason.
    var losses: [String: Int] { book.withLock { $0.laws?.losses ?? [:] } }

    private func answer(_ request: HTTPRequest, _ body: Data) -> FakeServer.Answer {
        guard !disk.isDead else { return .failure(.connectionLost) }
        let key = request.headers["Idempotency-Key"] ?? ""
        let answer = script.withLock { $0 }(key)
        book.withLock { book in
            book.step += 1
            if body != Self.content(key) { book.faults.append("\(key) arrived with other content") }
            // An earlier one may be acknowledged after the app has submitted another, and before that is accepted.
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

    /// The log so far.
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
                if book.taken[id.rawValue] == nil {
                    book.faults.append("\(id) was reported as delivered, but never was")
                }
            case .deadLettered(_, .duplicate): break
            case .dropped(let id, _), .deadLettered(let id, _): book.ended[id.rawValue] = (book.step, event)
            case .accepted(let id):
                book.accepted[id.rawValue] = book.step
                book.purged.remove(id.rawValue)
            case .joined, .found, .sending, .willRetry, .foreignFiles, .trouble: break
            }
        }
    }

    @discardableResult
    func submit(_ id: String, _ priority: ReportPriority = .normal) -> OutboxError? {
        guard let outbox else { return nil }
        let before = want(id)
        do throws(OutboxError) {
            try outbox.submit(Self.content(id), identifier: id, request: upload, priority: priority)
            // Events of a process after its death are ignored.
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
        guard let outbox, let report = ReportID(id) else { return }
        compare()
        guard outbox.deadLetters.contains(where: { $0.id == report }),
            !outbox.reports.contains(where: { $0.id == report })
        else { return }
        _ = want(id)
        let undo = book.withLock { $0.laws?.willRetry(id, at: timers.now) }
        do { try outbox.retry(report) } catch { book.withLock { if $0.laws != nil { undo?(&$0.laws!) } } }
    }

    func purge(_ id: String) {
        guard let outbox, let report = ReportID(id) else { return }
        book.withLock {
            $0.purged.insert(id)
            $0.laws?.purges(id)
        }
        outbox.purge(report)
    }

    func setConsent(_ consent: ReportConsent) {
        if consent == .denied { book.withLock { $0.laws?.wasConsentDenied = true } }
        guard let engine = outbox?.engine else { return }
        // On the outbox's own queue, where a stopped attempt ends afterwards: so a life is reproducible, and the events just
        // before a death are among the last operations.
        engine.enqueue { engine.setConsent(consent) }
        engine.drain()
    }

    /// Sets the error of the wall clock.
    func setClock(off offset: Duration) {
        let passed = TimerInstant(nanoseconds: 0).duration(to: timers.now)
        book.withLock { $0.laws?.setClock(off: offset) }
        timers.setDate(ManualTimers.defaultDate.addingTimeInterval((passed + offset) / .seconds(1)))
    }

    /// Flips a bit of a report's file, or removes the file like another program.
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

    func drain() { outbox?.drain() }

    func advance(_ seconds: Int) { timers.advance(by: .seconds(seconds), draining: drain) }

    /// Ends the process; the next one finds its files.
    func end(powerIsLost: Bool = false) {
        drain()
        note("the end, after \(disk.log.suffix(6)); \(disk.names)")
        disk.kill()
        let last = disk.logAtDeath
        book.withLock { book in
            let (taken, accepted) = (book.taken, book.accepted)
            // The server accepted it, or its file was removed or moved, and the process ended before it could report that.
            book.laws?.died(losesNames: powerIsLost && disk.failedPaths.contains("")) { id in
                taken[id] ?? -1 > accepted[id] ?? 0 || last.contains { $0.contains("-\(id).report") }
            }
        }
        outbox?.abandon()
        drain()
        let engine = outbox?.engine
        outbox = nil
        // Otherwise the last reference to the outbox would work on the next one's directory.
        engine?.drain()
        disk.revive(afterPowerLoss: powerIsLost)
    }

    /// Opens the outbox once more with a working disk and server, waits until it is empty, and returns the faults.
    func faults() async -> [String] {
        script.withLock { $0 = { _ in .status(.ok) } }
        disk.cut(nil)
        disk.weather(nil)
        disk.limit(.max)
        guard open() else { return ["The outbox does not open"] }
        outbox?.sendNow()
        compare()
        var rounds = 0
        while let outbox, outbox.count > 0, rounds < 50 {
            advance(4_000)
            rounds += 1
        }
        compare()
        var faults = book.withLock { $0.faults + ($0.laws?.faults ?? []) }
        if let outbox, outbox.count > 0 { faults.append("\(outbox.count) reports do not leave the outbox") }
        faults += disk.names.filter { $0.hasPrefix("tmp-") }.map { "\($0) was not removed" }
        let deadLetters = Set(outbox?.deadLetters.map(\.id.rawValue) ?? [])
        book.withLock { book in
            for (id, accepted) in book.accepted {
                if let taken = book.taken[id], taken > accepted { continue }
                if let ended = book.ended[id], ended.step > accepted { continue }
                if deadLetters.contains(id) || book.purged.contains(id) { continue }
                if book.laws?.mayHaveLeft(id) == true { continue }
                faults.append("\(id) was accepted and is lost")
            }
        }
        await outbox?.close()
        outbox = nil
        return faults
    }
}
