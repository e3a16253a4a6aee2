// RemoteSettings: settings of live loaders that a program reads from a server, over a chain. It may use Streams, for the polling,
// and the loaders that can be set from afar; no other loader knows it.
//
//     RemoteSettings      polls, and keeps what was good
//     RemoteTarget        what can be set: a throttle, a rate limit, or something of your own
//     RemoteDocument      the document, checked as a whole
//     RemoteSettingsKey   its signature

import DurableFiles
import LoaderChainPlatformFoundation

/// Limits, pauses and priorities of live loaders, read from a JSON document on a server.
///
/// ```swift
/// let throttle = Throttle(maximumNumberOfRequests: 6)
/// let chain = throttle --> Retry() --> terminal
///
/// let settings = RemoteSettings(
///     url: URL(string: "https://static.example.com/app.json")!, chain: terminal,
///     targets: ["api": .throttle(throttle)], file: file)
/// let following = Task { await settings.run() }
/// ```
///
/// **What it is for.** Your servers are overloaded, and a million copies of your app keep asking. Publish this document, and a minute
/// later each sends one request at a time; with a 0, none sends any:
///
/// ```json
/// {"revision": 1, "loaders": {"api": {"maximumNumberOfRequests": 1}}}
/// ```
///
/// **The document.** It has a `revision`, a whole number that you raise with each change, and settings for `loaders` by the names in
/// `targets`. A setting that is not there, or not there any more, has the program's own value. With `until`, the settings of a
/// loader end by themselves. ``Target`` lists what can be set.
///
/// | What arrives | What happens |
/// |---|---|
/// | a document | it is checked as a whole, applied at once, and kept in the file |
/// | a bad value, half a document, anything else | nothing changes, and ``Event/kept(because:)`` tells why |
/// | a wrong signature, or none where there are keys | the same |
/// | a lower revision than the last | the same, so that an old cache or an attacker brings nothing back |
/// | 304 | nothing |
/// | no response, or another status | nothing changes, and the last good settings hold |
/// | a name that nothing reads | it is ignored, and ``Event/applied(revision:ignored:)`` tells it |
///
/// Whatever goes wrong is told once, until something is right again.
///
/// Settings hold until a document ends them, also if this object is released. A ``Throttle`` has one document at a time.
///
/// **Which chain to use.** The requests pass every ``Throttle``, also one that is stopped. A chain of their own, to a server of its
/// own, still works if the other one does not.
public actor RemoteSettings {
    /// What happens to the settings.
    public enum Event: Hashable, Sendable {
        /// A document has been applied, except for the names that nothing reads.
        case applied(revision: Int64, ignored: [String])
        /// The last good settings hold, for this reason.
        case kept(because: String)
        /// The time of a target's settings is over; it has the program's own again.
        case ended(target: String)
        /// The file could not be written, so a relaunch would not know the settings.
        case notStored(because: String)
    }

    private let request: HTTPRequest
    private let chain: HTTPLoader
    private let keys: [Key]?
    private let file: WholeFile?
    private let disk = DiskQueue()
    private let interval: Duration
    private let timers: any Timers
    private let random: RandomSource
    private let onEvent: @Sendable (Event) -> Void

    private var targets: RemoteTargets
    private var poll: PollState
    /// When to ask again.
    private var due: TimerInstant
    private(set) var isAsking = false
    /// The kinds of faults that were told since something was right.
    private var told: Set<String>
    /// Whether the file could not be read when it should have been.
    private var mustLoad: Bool
    /// Whether the document in use is in the file.
    private var isStored = true

    private static let mostTold = 16
    private static let largestDocument = 64 << 10
    /// How long a request may take in all, so that a slow server does not keep new settings away.
    private static let patience = Duration.seconds(30)

    /// Makes settings, and applies what is in the file.
    ///
    /// - Parameters:
    ///   - url: where the document is.
    ///   - chain: the chain that loads it.
    ///   - targets: what the document may set, by name.
    ///   - keys: the keys of which one must have signed the document, so that an empty list accepts none; nil, the default, for
    ///     documents that are not signed.
    ///   - file: where the last good document is kept, so that it holds after a relaunch; nil, the default, to forget it.
    ///   - interval: the time between a response and the next request, to which up to a tenth is added by chance. After failures
    ///     it is longer, up to five minutes.
    ///   - timers: measures the time.
    ///   - random: the source of chance; give a seeded source in tests.
    ///   - onEvent: called for each event, under no lock.
    public init(
        url: URL, chain: HTTPLoader, targets: [String: Target], keys: [Key]? = nil, file: URL? = nil,
        interval: Duration = .seconds(60), timers: any Timers = SystemTimers.shared, random: RandomSource = .system,
        onEvent: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        var request = HTTPRequest(url: url)
        // It must pass what it has stopped, and no cache may answer it.
        request.throttle = .never
        request.priority = .high
        request.deduplication = .never
        request.responseCheck = .nothing
        request.delivery = .inMemory(upTo: Self.largestDocument)
        request.headers["Cache-Control"] = "no-cache"
        self.request = request
        self.chain = chain
        self.keys = keys
        self.file = file.map(WholeFile.init)
        self.interval = max(.zero, interval)
        self.timers = timers
        self.random = random
        self.onEvent = onEvent
        var polling = ResponseChanges.Settings()
        polling.interval = interval
        polling.maximumDelay = .seconds(300)
        poll = PollState(polling)
        due = timers.now
        var all = RemoteTargets(targets)
        told = []
        mustLoad = false
        do {
            if let bytes = try self.file?.contents(upTo: Self.largestDocument) {
                onEvent(try all.take(bytes, signedBy: keys, at: timers.date, spread: interval * random.unit()))
            }
        } catch {
            mustLoad = error is FileFailure
            onEvent(.kept(because: Self.unusable(error)))
        }
        self.targets = all
    }

    /// The revision of the document that was applied last; nil before the first.
    public var revision: Int64? { targets.revision }

    /// Asks again and again, at once at first, until the Swift task is cancelled.
    public func run() async {
        while !Task.isCancelled {
            await refresh()
            repeat {
                endSettings()
                let wait = min(
                    timers.now.duration(to: due), targets.timeToEnd(at: timers.date), max(interval, .seconds(1)))
                guard (try? await timers.sleep(for: max(wait, .milliseconds(1)))) != nil else { return }
            } while timers.now < due
        }
    }

    /// Asks once.
    ///
    /// Call it when an app becomes active, since clocks stand still while a device sleeps; when a notification tells of new
    /// settings; or before an app loads anything else.
    public func refresh() async {
        endSettings()
        loadAgain()
        var request = request
        request.deadline = .after(Self.patience, on: timers)
        poll.prepare(&request)
        isAsking = true
        defer { isAsking = false }
        do throws(HTTPError) {
            let response = try await chain.load(request)
            switch poll.take(response) {
            case .changed: await take(response.body)
            case .same: await confirm()
            case .busy: keep("The server has answered \(response.status)")
            case .unusable:
                poll.forget()
                keep("The server has answered \(response.status)")
            }
            wait(after: response)
        } catch {
            guard !Task.isCancelled else { return }
            poll.takeFailure()
            keep("The document could not be loaded: \(error)", as: "\(error.code) \(error.loader ?? "")")
            wait(after: nil)
        }
    }

    private func wait(after response: HTTPResponse?) {
        due = timers.now.advanced(by: poll.delay(after: response, roll: random.unit(), now: timers.date))
    }

    /// Applies a document, if all of it is right.
    private func take(_ bytes: Data) async {
        // After a relaunch, the server's document is usually the one of the file.
        guard bytes != targets.bytes else { return await confirm() }
        do {
            onEvent(try targets.take(bytes, signedBy: keys, at: timers.date, spread: interval * random.unit()))
            isStored = false
            await confirm()
        } catch {
            // It may have been cut on its way, so the same version is wanted once more.
            poll.forget()
            keep("\(RemoteProblem(error))")
        }
    }

    /// The document in use is still the right one.
    private func confirm() async {
        // What is wrong with the file is wrong until it is written.
        told.formIntersection(["file"])
        endSettings()
        guard !isStored, let file, let bytes = targets.bytes else { return }
        // It may hold a newer document than an old cache has served.
        guard !mustLoad else { return tell(.notStored(because: "The file could not be read"), as: "file") }
        do throws(FileFailure) {
            try await disk.perform { () throws(FileFailure) in try file.replace(with: bytes) }
            // Another document may have been applied meanwhile, which is written after this one.
            if targets.bytes == bytes { isStored = true }
            told.remove("file")
        } catch {
            tell(.notStored(because: "\(error)"), as: "file")
        }
    }

    /// Reads the file, if that was not possible before: on a device that has not been unlocked since it was started, it is not.
    private func loadAgain() {
        guard mustLoad else { return }
        do {
            let bytes = try file?.contents(upTo: Self.largestDocument)
            mustLoad = false
            guard let bytes else { return }
            onEvent(try targets.take(bytes, signedBy: keys, at: timers.date, spread: interval * random.unit()))
        } catch {
            if !(error is FileFailure) { keep(Self.unusable(error)) }
        }
    }

    private static func unusable(_ error: any Error) -> String {
        "The remembered document is not used: \(RemoteProblem(error))"
    }

    /// Ends settings whose time is over, and sets others again that the program has changed.
    private func endSettings() {
        for name in targets.set(at: timers.date) { onEvent(.ended(target: name)) }
    }

    /// Tells, once, why nothing has changed.
    private func keep(_ reason: String, as kind: String? = nil) { tell(.kept(because: reason), as: kind ?? reason) }

    private func tell(_ event: Event, as kind: String) {
        guard told.count < Self.mostTold, told.insert(kind).inserted else { return }
        onEvent(event)
    }
}

extension RemoteSettings.Event: CustomStringConvertible {
    /// The event in a sentence.
    public var description: String {
        switch self {
        case .applied(let revision, let ignored):
            "Revision \(revision) has been applied" + (ignored.isEmpty ? "" : ", without \(Self.text(ignored))")
        case .kept(let reason): "The last settings hold. \(reason)"
        case .ended(let target): "The time of the settings of \(target) is over"
        case .notStored(let reason): "The settings will be forgotten. \(reason)"
        }
    }

    /// The first of some names that a server has chosen.
    private static func text(_ names: [String]) -> String {
        let shown = names.prefix(10)
        let rest = names.count - shown.count
        return shown.map { ASCII.printable(String($0.unicodeScalars.prefix(100))) }.joined(separator: ", ")
            + (rest > 0 ? " and \(rest) more" : "")
    }
}

/// The targets, and the document that sets them.
struct RemoteTargets: Sendable {
    private let targets: [String: RemoteSettings.Target]
    private var document: RemoteDocument?
    private(set) var bytes: Data?
    /// How much longer than written settings hold, so that not all apps return at once.
    private var spread = Duration.zero
    /// The names of the targets that have settings from afar.
    private var names: Set<String> = []

    init(_ targets: [String: RemoteSettings.Target]) { self.targets = targets }

    var revision: Int64? { document?.revision }

    /// Applies a document, if all of it is right and it is not older than the last one.
    mutating func take(
        _ bytes: Data, signedBy keys: [RemoteSettings.Key]?, at now: Date, spread: Duration
    ) throws -> RemoteSettings.Event {
        let document = try RemoteDocument(bytes, signedBy: keys, for: targets)
        if let revision, document.revision < revision {
            throw RemoteProblem("Revision \(document.revision) is older than \(revision), which is in use")
        }
        (self.document, self.bytes, self.spread) = (document, bytes, max(.zero, spread))
        set(at: now, isNew: true)
        return .applied(revision: document.revision, ignored: document.ignored)
    }

    /// Sets all targets as the document says, and returns those whose settings are over.
    @discardableResult
    mutating func set(at now: Date, isNew: Bool = false) -> [String] {
        var ended: [String] = []
        for (name, target) in targets.sorted(by: { $0.key < $1.key }) {
            if let entry = document?.entries[name], end(of: entry).map({ now < $0 }) ?? true {
                if names.insert(name).inserted || isNew || target.mayBeSetAgain { entry.set() }
            } else if names.remove(name) != nil {
                target.leave()
                ended.append(name)
            }
        }
        return ended
    }

    /// How long it is until settings end, at most a day.
    func timeToEnd(at now: Date) -> Duration {
        let ends = document?.entries.values.compactMap { end(of: $0) }.filter { $0 > now } ?? []
        return .seconds(min(ends.min()?.timeIntervalSince(now) ?? .infinity, 86_400))
    }

    private func end(of entry: RemoteDocument.Entry) -> Date? { entry.until.map { $0 + spread / .seconds(1) } }
}
