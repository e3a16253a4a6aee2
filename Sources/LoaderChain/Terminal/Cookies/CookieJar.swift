// Terminal/Cookies: the cookies of servers, in a jar. KeepCookies, the loader, has the steps of a terminal's request. They may
// use Message, Time and the folders below those.

import Dispatch
import LoaderChainPlatformFoundation

/// The cookies that servers have set, in memory or in a file.
///
/// ```swift
/// let jar = CookieJar()
/// let chain = retry --> KeepCookies(in: jar) --> terminal
/// ```
///
/// ``KeepCookies`` is the loader that fills it and sends its cookies. Several chains may share a jar. It follows RFC 6265bis,
/// with the limits of browsers: a cookie has at most 4,096 bytes and lasts at most 400 days, a domain has at most 50, and the
/// jar 3,000. Beyond that the least recently used cookies are removed, within a domain first those that are not marked as
/// secure.
///
/// **On the disk.** With a file, cookies that have a date at which they expire outlast the process; others do not, as in a browser. The
/// file can be read by its owner alone, and is replaced as a whole about a second after a change. Call ``save()`` before the process ends.
/// One jar at a time may use a file.
///
/// Descriptions have no values.
public final class CookieJar: Sendable {
    private let state: Locked<State>
    private let file: CookieFile?
    private let suffixes: PublicSuffixes
    private let timers: any Timers
    /// The damage of the file when the jar was made, and the name of the copy of the file as it was found; nil if all was read.
    ///
    /// The jar has the other cookies. The copy has values, and is for its owner alone; ``removeAll()`` removes it, too.
    public let damage: Failure?
    private let fileQueue = DispatchQueue(label: "LoaderChain.CookieJar")

    /// How long changes are collected before they are written.
    private static let patience = Duration.seconds(1)

    private struct State {
        var store: CookieStore
        /// The number of times that all cookies were removed, so that an answer to an earlier request does not bring one back.
        var removals = 0
        /// The number of changes to cookies that outlast the process, and the number of these changes that are on the disk.
        var changes = 0
        var saved = 0
        var willWrite = false
        /// Whether the copy of a damaged file has to be removed, too.
        var removesCopy = false
        var failure: Failure?
    }

    /// The reason why cookies could not be read from a file or written to it.
    public struct Failure: Error, Hashable, Sendable, CustomStringConvertible, LocalizedError {
        /// The failure, and what to do about it, as a sentence.
        public let reason: String

        init(_ reason: String) { self.reason = reason }

        /// The reason.
        public var description: String { reason }

        /// The reason, which `localizedDescription` shows.
        public var errorDescription: String? { reason }
    }

    /// Makes a jar in memory, which is empty.
    ///
    /// - Parameters:
    ///   - publicSuffixes: the domains for which no cookie may be set; by default those of one label.
    ///   - timers: the clock by which cookies expire.
    public convenience init(
        publicSuffixes: PublicSuffixes = .singleLabels, timers: any Timers = SystemTimers.shared
    ) {
        self.init(CookieStore(), publicSuffixes: publicSuffixes, timers: timers)
    }

    /// Makes a jar that keeps its cookies in a file, and reads what is in it.
    ///
    /// - Parameters:
    ///   - file: the file; it is made with the first cookie that outlasts the process, and its directory is made if necessary.
    ///   - publicSuffixes: the domains for which no cookie may be set; by default those of one label.
    ///   - timers: the clock by which cookies expire.
    /// - Throws: if the file cannot be read, or is not a jar's. Damaged cookies are left out; ``damage`` reports them.
    public convenience init(
        file: URL, publicSuffixes: PublicSuffixes = .singleLabels, timers: any Timers = SystemTimers.shared
    ) throws(Failure) {
        let file = try CookieFile(file)
        self.init(
            CookieStore(), file: file, contents: try file.load(), publicSuffixes: publicSuffixes, timers: timers)
    }

    /// Makes a jar that adds what is in its file to the cookies of a store.
    init(
        _ store: CookieStore, file: CookieFile? = nil, contents: CookieFile.Contents = CookieFile.Contents(),
        publicSuffixes: PublicSuffixes, timers: any Timers
    ) {
        var initial = State(store: store)
        for cookie in contents.cookies { _ = initial.store.insert(cookie, at: timers.date) }
        // Cookies that have expired meanwhile, and damaged ones, have to leave the file too.
        let isOutdated = initial.store.all(at: timers.date).count < contents.cookies.count
        if isOutdated || contents.damage != nil { initial.changes += 1 }
        damage = contents.damage
        state = Locked(initial)
        self.file = file
        suffixes = publicSuffixes
        self.timers = timers
    }
}

// MARK: - Looking and changing

extension CookieJar {
    /// All cookies that have not expired, the oldest first.
    public var cookies: [Cookie] {
        let now = timers.date
        return state.withLock { $0.store.all(at: now) }
    }

    /// The cookies that a request would be sent with, in their order.
    public func cookies(for request: HTTPRequest) -> [Cookie] {
        guard let origin = CookieOrigin(request) else { return [] }
        let now = timers.date
        return state.withLock { $0.store.cookies(for: origin, at: now) }
    }

    /// Takes the value of a `Set-Cookie` field, as if it had come in answer to a request.
    ///
    /// - Returns: whether there is such a cookie now; false for an invalid field, and for a field that removes a cookie.
    @discardableResult
    public func insert(_ field: String, for request: HTTPRequest) -> Bool {
        insert(field, of: [:], for: request, after: nil)
    }

    /// Removes the cookies that a predicate chooses.
    public func removeAll(where isChosen: (Cookie) -> Bool) {
        // The predicate is not called under the lock, because user code never is.
        let chosen = Set(cookies.filter(isChosen))
        guard !chosen.isEmpty else { return }
        change { $0.store.removeAll { chosen.contains($0) } }
    }

    /// Removes all cookies, and ignores those of answers to requests that are on their way.
    public func removeAll() {
        change { state in
            state.removals += 1
            state.removesCopy = true
            _ = state.store.removeAll { _ in true }
            // The file may have some that are not here.
            return true
        }
    }
}

// MARK: - What a terminal asks

extension CookieJar {
    var removals: Int { state.withLock { $0.removals } }

    /// The value of a request's `Cookie` field; nil for none.
    func field(for request: HTTPRequest) -> String? {
        let cookies = cookies(for: request)
        return cookies.isEmpty ? nil : cookies.map(\.pair).joined(separator: "; ")
    }

    /// The number of cookies that a response may set: twice the limit of a domain.
    private static let mostOfAResponse = 2 * CookieStore.limitPerDomain

    /// Takes the cookies of a response, unless all were removed since its request began.
    func insert(_ response: HTTPResponse, after removals: Int) {
        // With more, the first of them would leave the jar again.
        for field in response.headers.values(for: "Set-Cookie").suffix(Self.mostOfAResponse) {
            insert(field, of: response.headers, for: response.request, after: removals)
        }
    }

    @discardableResult
    private func insert(
        _ field: String, of headers: HTTPHeaders, for request: HTTPRequest, after removals: Int?
    ) -> Bool {
        let now = timers.date
        guard let origin = CookieOrigin(request),
            let field = SetCookie(field, now: now, serverDate: headers.serverDate(now: now)),
            let cookie = Cookie(field, from: origin, suffixes: suffixes)
        else { return false }
        return change { state in
            guard removals ?? state.removals == state.removals else { return (false, false) }
            let hasChanged = state.store.insert(cookie, from: origin, at: now)
            return (hasChanged, state.store.contains(cookie))
        }
    }
}

// MARK: - The disk

extension CookieJar {
    /// The reason why the last change could not be written; nil once one was, and for a jar in memory.
    ///
    /// The next change, or ``save()``, tries again.
    public var failure: Failure? { state.withLock { $0.failure } }

    /// Writes what has changed, and returns when it is on the disk; it does nothing for a jar in memory.
    ///
    /// This waits for the disk, which takes some milliseconds.
    ///
    /// - Throws: if the file cannot be written. The jar keeps its cookies, and the file what it had.
    public func save() throws(Failure) {
        if let failure = fileQueue.sync(execute: write) { throw failure }
    }

    /// Changes the state, and sees to it that what outlasts the process is written.
    private func change(_ change: (inout State) -> Bool) {
        self.change { (change(&$0), ()) }
    }

    private func change<Result>(_ change: (inout State) -> (hasChanged: Bool, Result)) -> Result {
        let (mustSchedule, result) = state.withLock { state in
            let (hasChanged, result) = change(&state)
            guard hasChanged, file != nil else { return (false, result) }
            state.changes += 1
            return (!replace(&state.willWrite, with: true), result)
        }
        // The jar lasts until the change is on the disk.
        if mustSchedule { timers.schedule(after: Self.patience) { self.fileQueue.async { _ = self.write() } } }
        return result
    }

    /// Writes the cookies, if they have changed since they were written; called on the queue alone.
    private func write() -> Failure? {
        guard let file else { return nil }
        let now = timers.date
        let (changes, cookies, removesCopy) = state.withLock { state in
            state.willWrite = false
            return (
                state.changes, state.changes == state.saved ? nil : state.store.all(at: now), state.removesCopy
            )
        }
        guard let cookies else { return nil }
        do throws(Failure) {
            try file.save(cookies)
            if removesCopy { try file.removeCopy() }
            state.withLock { state in
                state.saved = changes
                if removesCopy { state.removesCopy = false }
                state.failure = nil
            }
            return nil
        } catch {
            state.withLock { $0.failure = error }
            return error
        }
    }
}

extension CookieJar: CustomStringConvertible, CustomReflectable {
    /// How many cookies there are, and of how many domains.
    public var description: String {
        let cookies = cookies
        return "CookieJar(\(cookies.count) cookies of \(Set(cookies.map(\.domain)).count) domains)"
    }

    /// Empty: a dump shows no cookies.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
