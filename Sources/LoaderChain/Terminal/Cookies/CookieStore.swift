import LoaderChainPlatformFoundation

/// The cookies of a jar: a pure value, which knows no thread, clock or disk.
///
/// The store keeps the rules of RFC 6265bis, section 5.7: which cookie replaces which, which are sent where and in which order,
/// and which are removed when there are too many.
struct CookieStore: Sendable {
    static let limitPerDomain = 50
    static let limit = 3_000

    private let limitPerDomain: Int
    private let limit: Int
    private var domains: [String: [Entry]] = [:]
    private(set) var count = 0
    /// A number for each event, by which a cookie's age and use are compared.
    private var step: UInt64 = 0

    private struct Entry {
        var cookie: CookieJar.Cookie
        /// Kept when another takes its place, so that the order in which cookies are sent stays.
        let created: UInt64
        var used: UInt64
    }

    init(limitPerDomain: Int = limitPerDomain, limit: Int = limit) {
        self.limitPerDomain = limitPerDomain
        self.limit = limit
    }

    /// All cookies that have not expired, the oldest first.
    func all(at now: Date) -> [CookieJar.Cookie] {
        domains.values.joined().filter { !$0.cookie.isExpired(at: now) }.sorted { $0.created < $1.created }
            .map(\.cookie)
    }

    func contains(_ cookie: CookieJar.Cookie) -> Bool {
        domains[cookie.domain]?.contains { $0.cookie == cookie } ?? false
    }

    // MARK: Storing

    /// Stores a cookie that came from a place, or, if it has expired, removes the cookie that it replaces.
    ///
    /// Returns whether cookies that outlast the process have changed.
    mutating func insert(_ cookie: CookieJar.Cookie, from origin: CookieOrigin, at now: Date) -> Bool {
        guard cookie.isSecure || origin.isSecure || !wouldCover(cookie, at: now) else { return false }
        return insert(cookie, at: now)
    }

    /// Stores a cookie, whatever it replaces.
    mutating func insert(_ cookie: CookieJar.Cookie, at now: Date) -> Bool {
        step += 1
        var entries = domains[cookie.domain] ?? []
        var old: Entry?
        if let index = entries.firstIndex(where: { $0.cookie.identity == cookie.identity }) {
            old = entries.remove(at: index)
            count -= 1
        }
        let isNew = !cookie.isExpired(at: now)
        if isNew {
            entries.append(Entry(cookie: cookie, created: old?.created ?? step, used: step))
            count += 1
        }
        domains[cookie.domain] = entries.isEmpty ? nil : entries
        let hasOutlasting = old?.cookie.expiry != nil || isNew && cookie.expiry != nil
        return makeRoom(in: cookie.domain, at: now) || hasOutlasting
    }

    /// Whether a cookie without protection would reach a request together with, or instead of, a protected cookie of the same name.
    private func wouldCover(_ cookie: CookieJar.Cookie, at now: Date) -> Bool {
        func covers(_ other: CookieJar.Cookie) -> Bool {
            other.isSecure && other.name == cookie.name && !other.isExpired(at: now)
                && CookieRules.path(cookie.path, matches: other.path)
        }
        return domains.contains { domain, entries in
            (CookieRules.host(domain, matches: cookie.domain) || CookieRules.host(cookie.domain, matches: domain))
                && entries.contains { covers($0.cookie) }
        }
    }

    /// Removes cookies until no limit is exceeded; returns whether one of them outlasts the process.
    private mutating func makeRoom(in domain: String, at now: Date) -> Bool {
        var hasChanged = false
        if domains[domain].map({ $0.count > limitPerDomain }) ?? false {
            // Of this domain alone, since a server may set one cookie after the other.
            hasChanged = removeAll(in: domain) { $0.isExpired(at: now) }
            if let entries = domains[domain], entries.count > limitPerDomain {
                // What is protected stays longer than what anyone on the way could have set.
                let unprotected = entries.filter { !$0.cookie.isSecure }
                hasChanged = removeStalest(of: unprotected.isEmpty ? entries : unprotected) || hasChanged
            }
        }
        if count > limit { hasChanged = removeAll { $0.isExpired(at: now) } || hasChanged }
        if count > limit { hasChanged = removeStalest(of: domains.values.joined()) || hasChanged }
        return hasChanged
    }

    /// Removes the entry that was not used for the longest; returns whether its cookie outlasts the process.
    private mutating func removeStalest(of entries: some Sequence<Entry>) -> Bool {
        guard let stalest = entries.min(by: { ($0.used, $0.created) < ($1.used, $1.created) }) else { return false }
        remove(in: stalest.cookie.domain) { $0.created == stalest.created }
        return stalest.cookie.expiry != nil
    }

    /// Removes the cookies that a predicate chooses, of one domain or of all; returns whether one of them outlasts the process.
    mutating func removeAll(in domain: String? = nil, where isChosen: (CookieJar.Cookie) -> Bool) -> Bool {
        var hasChanged = false
        for domain in domain.map({ [$0] }) ?? Array(domains.keys) {
            remove(in: domain) { entry in
                guard isChosen(entry.cookie) else { return false }
                if entry.cookie.expiry != nil { hasChanged = true }
                return true
            }
        }
        return hasChanged
    }

    private mutating func remove(in domain: String, where isChosen: (Entry) -> Bool) {
        guard var entries = domains[domain] else { return }
        let before = entries.count
        entries.removeAll(where: isChosen)
        count -= before - entries.count
        domains[domain] = entries.isEmpty ? nil : entries
    }

    // MARK: Sending

    /// The cookies for a place, in the order in which they are sent: longer paths first, and older cookies before newer ones.
    mutating func cookies(for origin: CookieOrigin, at now: Date) -> [CookieJar.Cookie] {
        step += 1
        var found: [Entry] = []
        for domain in CookieRules.domains(of: origin.host) {
            guard let index = domains.index(forKey: domain) else { continue }
            for entry in domains.values[index].indices {
                let cookie = domains.values[index][entry].cookie
                guard !cookie.isExpired(at: now), cookie.isSent(to: origin) else { continue }
                domains.values[index][entry].used = step
                found.append(domains.values[index][entry])
            }
        }
        let sorted = found.sorted { first, second in
            let (long, short) = (first.cookie.path.utf8.count, second.cookie.path.utf8.count)
            return long == short ? first.created < second.created : long > short
        }
        return sorted.map(\.cookie)
    }
}
