import DurableFilesTesting
import LoaderChain
import LoaderChainTesting

@testable import ReportOutbox

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// An app over all its launches, with a box that sends through background uploads.
final class UploadLife {
    /// A terminal as `BackgroundUploads` is one, but for the system's session.
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
    private(set) var box: ReportOutbox?
    private(set) var terminal: Terminal?
    private let events = EventBook()
    /// What the box has promised to deliver.
    private var promised: Set<String> = []

    init(seed: UInt64 = 1) {
        daemon = FakeDaemon(disk, folder: "uploads")
        settings = .test(timers, seed: seed)
        settings.maximumAge = .seconds(365 * 24 * 3600)
        settings.maximumAttempts = 10_000
    }

    /// What is submitted under an identifier, always the same.
    static func content(_ id: String) -> Data { Data("The report \(id)".utf8) }

    // MARK: The app

    /// Launches the app; the box is opened, unless it is the system's launch and only the uploads are taken up.
    @discardableResult
    func launch(opensBox: Bool = true) -> Bool {
        guard let files = try? disk.folder("uploads") else { return false }
        let engine = try? UploadEngine(
            files: files, timers: timers, loader: "Terminal", makeSession: { [daemon] in daemon.connect($0) })
        guard let engine else { return false }
        terminal = Terminal(engine)
        return opensBox ? open() : true
    }

    @discardableResult
    func open() -> Bool {
        guard let terminal, let files = try? disk.folder("box") else { return false }
        let listener = { @Sendable [events] (event: ReportEvent) in events.note(event) }
        box = try? ReportOutbox(files: files, chain: terminal, settings: settings, onEvent: listener)
        drain()
        return box != nil
    }

    /// Waits until nothing goes on by itself.
    func drain() {
        if let box = box?.engine {
            while !isAtRest(box) {}
        } else {
            terminal?.engine.drain()
        }
    }

    /// Lets the box and the uploads do what they have to do, and says whether neither has given the other something new.
    private func isAtRest(_ box: BoxEngine) -> Bool {
        box.drain()
        terminal?.engine.drain()
        let isAtRest = Locked(false)
        // Asked on the box's queue, where this is all that goes on meanwhile. Asked one after the other from here, both
        // could seem idle while one hands over to the other.
        box.enqueue { [uploads = terminal?.engine] in
            guard uploads?.isBusy != true, box.shared.withLock({ $0.pendingWork == 1 }) else { return }
            isAtRest.withLock { $0 = true }
        }
        box.drain()
        return isAtRest.withLock { $0 }
    }

    func submit(_ id: String) {
        guard let box else { return }
        do throws(OutboxError) {
            try box.submit(Self.content(id), identifier: id, request: upload)
            if !disk.isDead { promised.insert(id) }
        } catch {
            // What is refused is no promise.
        }
        drain()
    }

    /// Closes the box, whose uploads go on.
    func close() {
        box?.abandon()
        drain()
        box = nil
    }

    /// Ends the process at this moment.
    func kill() {
        disk.kill()
        daemon.disconnect()
        box?.abandon()
        drain()
        box = nil
        terminal = nil
        disk.revive()
    }

    /// Lets time pass, in which the system tells what it has to tell.
    func advance(_ seconds: Int) {
        daemon.deliver()
        timers.advance(by: .seconds(seconds), draining: drain)
    }

    var delivered: Int {
        events.events.count { if case .delivered = $0 { true } else { false } }
    }
    var attempts: [Int] { box?.reports.map(\.attempts) ?? [] }
    var uploadFiles: [String] { disk.names.filter { $0.hasPrefix("uploads/") && $0 != "uploads/lock" } }

    // MARK: The end

    /// Launches once more with everything working, and answers what is wrong once everything has had its time.
    func faults(allowsRepetition: Bool = false) -> [String] {
        disk.cut(nil)
        kill()
        guard launch() else { return ["The box does not open"] }
        var rounds = 0
        while let box, box.count > 0 || daemon.running > 0 || daemon.hasEvents, rounds < 50 {
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
        if let box, box.count > 0 { faults.append("\(box.count) reports do not leave the box") }
        if let box, !box.reportsSetAside.isEmpty { faults.append("\(box.reportsSetAside.count) were set aside") }
        for id in promised.sorted() where daemon.accepted[id] == nil { faults.append("\(id) is lost") }
        if !allowsRepetition {
            for (id, count) in daemon.accepted.sorted(by: { $0.key < $1.key }) {
                let lost = daemon.lostAnswers[id] ?? 0
                if count > 1 + lost { faults.append("\(id) was accepted \(count) times, with \(lost) answers lost") }
            }
            // The answer for a report that is gone, because the app died between the two, has its time.
            timers.advance(by: .seconds(31 * 24 * 3600))
            kill()
            launch()
            if !uploadFiles.isEmpty { faults.append("\(uploadFiles) are left") }
        }
        kill()
        return faults
    }
}
