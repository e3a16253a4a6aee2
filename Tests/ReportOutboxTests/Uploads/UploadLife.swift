import DurableFilesTesting
import LoaderChain
import LoaderChainPlatformFoundation
import LoaderChainTesting

@testable import ReportOutbox

/// An app over all its launches, with an outbox that sends through background uploads.
final class UploadLife {
    /// A terminal like `BackgroundUploads`, without the system's session.
    final class Terminal: HTTPLoader, @unchecked Sendable {
        let engine: UploadEngine
        init(_ engine: UploadEngine) {
            self.engine = engine
            super.init()
        }
        override func load(task: HTTPTask) { engine.load(task) }
    }

    let disk = MemoryDirectory()
    let timers = ManualTimers()
    let daemon: FakeDaemon
    var settings: OutboxSettings
    private(set) var outbox: ReportOutbox?
    private(set) var terminal: Terminal?
    private let events = EventBook()
    /// The reports that the outbox has promised to deliver.
    private var promised: Set<String> = []

    init(seed: UInt64 = 1) {
        daemon = FakeDaemon(disk, folder: "uploads")
        settings = .test(timers, seed: seed)
        settings.maximumAge = .seconds(365 * 24 * 3600)
        settings.maximumAttempts = 10_000
    }

    /// The content for an identifier, always the same.
    static func content(_ id: String) -> Data { Data("The report \(id)".utf8) }

    // MARK: The app

    /// Launches the app; the outbox is not opened if the system launches the app only for events.
    @discardableResult
    func launch(opensOutbox: Bool = true) -> Bool {
        guard let files = try? disk.folder("uploads") else { return false }
        let engine = try? UploadEngine(
            files: files, timers: timers, loader: "Terminal", makeSession: { [daemon] in daemon.connect($0) })
        guard let engine else { return false }
        terminal = Terminal(engine)
        return opensOutbox ? open() : true
    }

    @discardableResult
    func open() -> Bool {
        guard let terminal, let files = try? disk.folder("outbox") else { return false }
        let listener = { @Sendable [events] (event: ReportEvent) in events.note(event) }
        outbox = try? ReportOutbox(files: files, chain: terminal, settings: settings, onEvent: listener)
        drain()
        return outbox != nil
    }

    /// Waits until all work has ended that needs no external event.
    func drain() {
        if let outbox = outbox?.engine {
            while !isAtRest(outbox) {}
        } else {
            terminal?.engine.drain()
        }
    }

    /// Runs the pending work of the outbox and the uploads, and returns whether neither has caused new work for the other.
    private func isAtRest(_ outbox: OutboxEngine) -> Bool {
        outbox.drain()
        terminal?.engine.drain()
        let isAtRest = Locked(false)
        // Queried on the outbox's queue, where nothing else runs meanwhile. If both were queried from here one after the other,
        // both could seem idle while one passes work to the other.
        outbox.enqueue { [uploads = terminal?.engine] in
            guard uploads?.isBusy != true, outbox.shared.withLock({ $0.pendingWork == 1 }) else { return }
            isAtRest.withLock { $0 = true }
        }
        outbox.drain()
        return isAtRest.withLock { $0 }
    }

    func submit(_ id: String) {
        guard let outbox else { return }
        do throws(OutboxError) {
            try outbox.submit(Self.content(id), identifier: id, request: upload)
            if !disk.isDead { promised.insert(id) }
        } catch {
            // A rejected submission is not a promise.
        }
        drain()
    }

    /// Closes the outbox, whose uploads continue.
    func close() {
        outbox?.abandon()
        drain()
        outbox = nil
    }

    /// Ends the process now.
    func kill() {
        disk.kill()
        daemon.disconnect()
        outbox?.abandon()
        drain()
        outbox = nil
        terminal = nil
        disk.revive()
    }

    /// Advances the time while the system delivers its events.
    func advance(_ seconds: Int) {
        daemon.deliver()
        timers.advance(by: .seconds(seconds), draining: drain)
    }

    var delivered: Int {
        events.events.count { if case .delivered = $0 { true } else { false } }
    }
    var attempts: [Int] { outbox?.reports.map(\.attempts) ?? [] }
    var uploadFiles: [String] { disk.names.filter { $0.hasPrefix("uploads/") && $0 != "uploads/lock" } }

    // MARK: The end

    /// Launches once more without faults, and returns the faults after all work has ended.
    func faults(allowsRepetition: Bool = false) -> [String] {
        disk.cut(nil)
        kill()
        guard launch() else { return ["The outbox does not open"] }
        var rounds = 0
        while let outbox, outbox.count > 0 || daemon.running > 0 || daemon.hasEvents, rounds < 50 {
            daemon.list()
            drain()
            daemon.finishEvents()
            drain()
            advance(4_000)
            for _ in 0..<daemon.running {
                daemon.arrive()
                daemon.answer()
            }
            rounds += 1
        }
        var faults = daemon.faults
        if let outbox, outbox.count > 0 { faults.append("\(outbox.count) reports do not leave the outbox") }
        if let outbox, !outbox.deadLetters.isEmpty { faults.append("\(outbox.deadLetters.count) became dead letters") }
        for id in promised.sorted() where daemon.accepted[id] == nil { faults.append("\(id) is lost") }
        if !allowsRepetition {
            for (id, count) in daemon.accepted.sorted(by: { $0.key < $1.key }) {
                let lost = daemon.lostAnswers[id] ?? 0
                if count > 1 + lost { faults.append("\(id) was accepted \(count) times, with \(lost) answers lost") }
            }
            // The answer for a report that is gone, because the app died between the two, is kept for some time.
            timers.advance(by: .seconds(31 * 24 * 3600))
            kill()
            launch()
            if !uploadFiles.isEmpty { faults.append("\(uploadFiles) are left") }
        }
        kill()
        return faults
    }
}
