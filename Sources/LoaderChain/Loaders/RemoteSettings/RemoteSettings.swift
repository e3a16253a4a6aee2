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
///     url: URL(string: "https://static.example.com/app.json")!, over: terminal,
///     targets: ["api": .throttle(throttle)], file: file)
/// let following = Task { await settings.run() }
/// ```
///
/// **What it is for.** Your servers are overloaded, and a million copies of your app keep asking. Publish this document, and within
/// a minute no app sends more than one request at a time; with a 0, none sends any:
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
/// **Which chain to use.** The requests pass every ``Throttle``, also one that is stopped. A chain of their own, to a server of its
/// own, still works if the other one does not.
public actor RemoteSettings {
    /// What happens to the settings.
    public enum Event: Hashable, Sendable {
        /// A document has been applied, except for the names that nothing reads.
        case applied(revision: Int, ignored: [String])
        /// The last good settings hold, for this reason.
        case kept(because: String)
        /// The time of a loader's settings is over; it has the program's own again.
        case ended(target: String)
        /// The file could not be written, so a relaunch would not know the settings.
        case notStored(because: String)
    }

    private let request: HTTPRequest
    private let chain: HTTPLoader
    private let keys: [Key]
    private let store: Store?
    private let interval: Duration
    private let timers: any Timers
    private let random: RandomSource
    private let onEvent: @Sendable (Event) -> Void

    private var loaders: RemoteLoaders
    private var poll: PollState
    /// When to ask again.
    private var due: TimerInstant
    /// What was wrong since something was right.
    private var told: [String]

    private static let mostTold = 16
    /// The size of the largest document.
    private static let largest = 64 << 10

    /// Makes settings, and applies what is in the file.
    ///
    /// - Parameters:
    ///   - url: where the document is.
    ///   - chain: the chain that loads it.
    ///   - targets: what the document may set, by name.
    ///   - keys: the keys of which one must have signed the document; with none, the default, documents are not signed.
    ///   - file: where the last good document is kept, so that it holds after a relaunch; nil, the default, to forget it.
    ///   - interval: the time between a response and the next request, to which up to a tenth is added by chance. After failures
    ///     it is longer, up to five minutes.
    ///   - timers: measures the time.
    ///   - random: the source of chance; give a seeded source in tests.
    ///   - onEvent: called for each event, under no lock.
    public init(
        url: URL, over chain: HTTPLoader, targets: [String: Target], keys: [Key] = [], file: URL? = nil,
        interval: Duration = .seconds(60), timers: any Timers = SystemTimers.shared, random: RandomSource = .system,
        onEvent: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        self.init(
            url: url, over: chain, targets: targets, keys: keys, store: file.map(Store.init), interval: interval,
            timers: timers, random: random, onEvent: onEvent)
    }

    init(
        url: URL, over chain: HTTPLoader, targets: [String: Target], keys: [Key], store: Store?, interval: Duration,
        timers: any Timers, random: RandomSource, onEvent: @escaping @Sendable (Event) -> Void
    ) {
        var request = HTTPRequest(url: url)
        // It must pass what it has stopped.
        request.throttle = .never
        request.priority = .high
        request.deduplication = .never
        request.responseCheck = .nothing
        request.delivery = .inMemory(upTo: Self.largest)
        self.request = request
        self.chain = chain
        self.keys = keys
        self.store = store
        self.interval = max(.zero, interval)
        self.timers = timers
        self.random = random
        self.onEvent = onEvent
        var polling = ResponseChanges.Settings()
        polling.interval = interval
        polling.maximumDelay = .seconds(300)
        poll = PollState(polling)
        due = timers.now
        var loaders = RemoteLoaders(targets)
        told = []
        do {
            if let bytes = try store?.load(upTo: Self.largest) {
                let document = try RemoteDocument(bytes, signedBy: keys, for: targets)
                loaders.apply(document, bytes, at: timers.date, longer: interval * random.unit())
                onEvent(.applied(revision: document.revision, ignored: document.ignored))
            }
        } catch {
            told = ["The remembered document is not used: \(RemoteProblem(error))"]
            onEvent(.kept(because: told[0]))
        }
        self.loaders = loaders
    }

    /// The revision of the document that was applied last; nil before the first.
    public var revision: Int? { loaders.revision }

    /// Asks again and again, at once at first, until the Swift task is cancelled.
    public func run() async {
        while !Task.isCancelled {
            await refresh()
            repeat {
                for name in loaders.end(at: timers.date) { onEvent(.ended(target: name)) }
                let wait = min(timers.now.duration(to: due), loaders.timeToEnd(at: timers.date))
                guard (try? await timers.sleep(for: max(wait, .milliseconds(1)))) != nil else { return }
            } while timers.now < due
        }
    }

    /// Asks once; for an app that waits for its settings when it starts, or is told of new ones by a notification.
    public func refresh() async {
        var request = request
        poll.prepare(&request)
        do throws(HTTPError) {
            let response = try await chain.load(request)
            switch poll.take(response) {
            case .changed: take(response.body)
            case .same: told = []
            case .busy, .unusable: keep("The server has answered \(response.status)")
            }
            wait(after: response)
        } catch {
            guard !Task.isCancelled else { return }
            poll.takeFailure()
            keep("The document could not be loaded: \(error)")
            wait(after: nil)
        }
    }

    private func wait(after response: HTTPResponse?) {
        due = timers.now.advanced(by: poll.delay(after: response, roll: random.unit(), now: timers.date))
    }

    /// Applies a document, if all of it is right.
    private func take(_ bytes: Data) {
        let document: RemoteDocument
        do {
            document = try RemoteDocument(bytes, signedBy: keys, for: loaders.targets)
            if let revision, document.revision < revision {
                throw RemoteProblem("Revision \(document.revision) is older than \(revision), which is in use")
            }
        } catch {
            // It may have been cut on its way, so the same version is wanted once more.
            poll.forget()
            return keep("\(RemoteProblem(error))")
        }
        told = []
        // After a relaunch, the server's document is usually the one of the file.
        guard bytes != loaders.bytes else { return }
        loaders.apply(document, bytes, at: timers.date, longer: interval * random.unit())
        onEvent(.applied(revision: document.revision, ignored: document.ignored))
        do throws(FileFailure) { try store?.save(bytes) } catch { onEvent(.notStored(because: "\(error)")) }
    }

    /// Tells, once, why nothing has changed.
    private func keep(_ reason: String) {
        guard !told.contains(reason), told.count < Self.mostTold else { return }
        told.append(reason)
        onEvent(.kept(because: reason))
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
        return shown.map { ASCII.printable(String($0.prefix(100))) }.joined(separator: ", ")
            + (rest > 0 ? " and \(rest) more" : "")
    }
}

extension RemoteSettings {
    /// The file of the last good document, as it came, with its signature.
    struct Store: Sendable {
        private let open: @Sendable () throws(FileFailure) -> any Directory
        private let name: String

        init(_ file: URL) {
            self.init(name: file.lastPathComponent) { () throws(FileFailure) in
                try SystemDirectory(file.deletingLastPathComponent())
            }
        }

        init(name: String, in directory: @escaping @Sendable () throws(FileFailure) -> any Directory) {
            self.name = name
            open = directory
        }

        /// The document; nil if there is none.
        func load(upTo largest: Int) throws(FileFailure) -> Data? {
            do throws(FileFailure) { return try open().contents(of: name, upTo: largest) } catch {
                if error.isMissing { return nil }
                throw error
            }
        }

        func save(_ document: Data) throws(FileFailure) {
            try open().replace(name, with: document, through: name + ".new")
        }
    }
}

/// The targets, and the settings that they have from afar.
struct RemoteLoaders: Sendable {
    let targets: [String: RemoteSettings.Target]
    private(set) var revision: Int?
    /// The document that was applied last.
    private(set) var bytes: Data?
    /// The instants at which the settings of targets end.
    private var ends: [String: Date] = [:]
    /// What brings back the program's own settings, for each target that has others.
    private var own: [String: RemoteSettings.Own] = [:]

    init(_ targets: [String: RemoteSettings.Target]) { self.targets = targets }

    /// Applies a document.
    ///
    /// - Parameter time: how much longer than written settings hold, so that not all apps return at once.
    mutating func apply(_ document: RemoteDocument, _ bytes: Data, at now: Date, longer time: Duration) {
        (revision, self.bytes) = (document.revision, bytes)
        ends = document.entries.compactMapValues(\.until).mapValues { $0 + max(.zero, time) / .seconds(1) }
        for name in targets.keys.sorted() {
            if let entry = document.entries[name], ends[name].map({ now < $0 }) ?? true {
                entry.change(&own[name, default: [:]])
            } else {
                end(name)
            }
        }
    }

    /// Ends the settings whose time is over, and returns the names of their targets.
    mutating func end(at now: Date) -> [String] {
        let names = ends.filter { $0.value <= now }.keys.sorted()
        return names.filter { end($0) }
    }

    /// How long it is until settings end.
    func timeToEnd(at now: Date) -> Duration {
        ends.values.min().map { .seconds(min(max(0, $0.timeIntervalSince(now)), 86_400)) } ?? .seconds(86_400)
    }

    /// Brings back the program's own settings, and answers whether there were others.
    @discardableResult
    private mutating func end(_ name: String) -> Bool {
        ends[name] = nil
        guard var own = own.removeValue(forKey: name) else { return false }
        targets[name]?.leave(&own)
        return true
    }
}
