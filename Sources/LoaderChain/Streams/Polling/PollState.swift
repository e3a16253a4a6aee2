// Streams/Polling: a resource that is asked for again and again, and told of when it has changed.

import LoaderChainPlatformFoundation

/// What is known of a resource that is polled, and when to ask again: decisions, without a clock.
struct PollState: Sendable {
    /// What a response says.
    enum Verdict: Hashable, Sendable {
        /// The resource is another one than at the last time.
        case changed
        /// It is the same.
        case same
        /// The server asks to come again later.
        case busy
        /// It is a response that polling cannot go on with.
        case unusable
    }

    private let settings: ResponseChanges.Settings
    private let interval: Duration
    private let pacing: Pacing
    private var entityTag: String?
    private var lastModified: String?
    /// A checksum of the last body, for a server that names no version.
    private var bodyDigest: [UInt8]?
    private var failures = 0

    init(_ settings: ResponseChanges.Settings) {
        self.settings = settings
        interval = max(Pacing.clamped(settings.interval), .milliseconds(1))
        let maximum = max(interval, Pacing.clamped(settings.maximumDelay))
        pacing = Pacing(first: interval, maximum: maximum, maximumAsked: maximum, leastShare: 0.5)
        entityTag = settings.entityTag
    }

    /// The tag of the last version, to go on with after a relaunch.
    var lastTag: String? { entityTag }

    /// Adds what asks for a response only if the resource has changed.
    func prepare(_ request: inout HTTPRequest) {
        if let entityTag {
            request.headers["If-None-Match"] = entityTag
        } else if let lastModified {
            request.headers["If-Modified-Since"] = lastModified
        }
    }

    /// Takes a response.
    mutating func take(_ response: HTTPResponse) -> Verdict {
        switch response.status {
        case .notModified:
            failures = 0
            return .same
        case let status where status.isSuccess:
            failures = 0
            return noteVersion(of: response) ? .changed : .same
        case .tooManyRequests, .requestTimeout:
            failures += 1
            return .busy
        case let status where status.isServerError && status != .notImplemented:
            failures += 1
            return .busy
        default: return .unusable
        }
    }

    /// Notes the version of a response, and returns whether it is new.
    private mutating func noteVersion(of response: HTTPResponse) -> Bool {
        let tag = response.headers.values(for: "ETag").first
        let date = response.headers["Last-Modified"]
        // A body that is not in memory is none that can be compared.
        let isStored = response.chunks == nil && response.file == nil
        let digest = tag == nil && isStored ? SHA256.of(response.body) : nil
        defer { (entityTag, lastModified, bodyDigest) = (tag, date, digest) }
        if let tag { return entityTag.map { Self.opaque($0) != Self.opaque(tag) } ?? true }
        // A date tells seconds apart, and bodies may change twice in one.
        guard isStored else { return date == nil || date != lastModified }
        return digest != bodyDigest
    }

    /// A tag without the mark of a weak one: for this comparison, both are the same (RFC 9110, 8.8.3.2).
    private static func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }

    /// Notes that there was no response.
    mutating func takeFailure() { failures += 1 }

    /// Whether there were too many failures in a row.
    var hasFailed: Bool { settings.maximumFailures.map { failures > $0 } ?? false }

    /// Returns how long to wait before the next request.
    ///
    /// - Parameters:
    ///   - response: the last response; nil if there was none.
    ///   - roll: chance, from 0 up to 1.
    ///   - now: the present, by the wall clock.
    func delay(after response: HTTPResponse?, roll: Double, now: Date) -> Duration {
        let asked = RetryAfter.delay(of: response, now: now)
        guard failures == 0 else {
            return max(interval, pacing.delay(afterFailures: failures + 1, asked: asked, roll: roll))
        }
        var delay = interval
        if settings.followsMaxAge, let response { delay = max(delay, pacing.granted(Self.freshness(of: response))) }
        delay = max(delay, pacing.granted(asked))
        return delay * (1 + min(max(0, settings.jitter), 1) * roll)
    }

    /// How long a response is fresh, by its `max-age`, less the time that it was in caches.
    private static func freshness(of response: HTTPResponse) -> Duration {
        var lifetime: Int64 = 0
        for directive in response.headers.list(for: "Cache-Control") {
            let parts = directive.split(separator: "=", maxSplits: 1)
            if ASCII.isEqualIgnoringCase(directive, "no-cache") || ASCII.isEqualIgnoringCase(directive, "no-store") {
                return .zero
            }
            if parts.count == 2, ASCII.isEqualIgnoringCase(String(parts[0]), "max-age") {
                lifetime = seconds(parts[1]) ?? 0
            }
        }
        let age = response.headers["Age"].flatMap { seconds(Substring($0)) } ?? 0
        return .seconds(max(0, lifetime - age))
    }

    private static func seconds(_ text: Substring) -> Int64? {
        let digits = ASCII.trimmed(text.utf8)
        guard !digits.isEmpty, digits.count < 12, digits.allSatisfy(ASCII.isDigit) else { return nil }
        return Int64(String(decoding: digits, as: UTF8.self))
    }
}
