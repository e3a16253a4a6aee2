#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A token that whoever bears it may use, with what is needed to get the next one.
///
/// No text made of it holds either token. Encoding it writes both out, for a store that keeps it in a safe place.
public struct BearerToken: Hashable, Codable, Sendable {
    private var secretAccessToken: Secret<String>
    private var secretRefreshToken: Secret<String>?

    /// How long the access token is good for, from when it was obtained; nil or zero if only the server knows.
    public var lifetime: Duration?

    /// When it was obtained, by the wall clock.
    ///
    /// A ``BearerAuth`` sets it when its source has left it nil, so that a token in a store still knows its age.
    public var obtained: Date?

    /// Makes a token.
    public init(
        accessToken: String, refreshToken: String? = nil, lifetime: Duration? = nil, obtained: Date? = nil
    ) {
        secretAccessToken = Secret(accessToken)
        secretRefreshToken = refreshToken.map { Secret($0) }
        self.lifetime = lifetime
        self.obtained = obtained
    }

    private enum CodingKeys: String, CodingKey {
        case secretAccessToken = "accessToken"
        case secretRefreshToken = "refreshToken"
        case lifetime, obtained
    }

    /// What requests carry.
    public var accessToken: String {
        get { secretAccessToken.value }
        set { secretAccessToken.value = newValue }
    }

    /// What the next access token is had for, where the server gave one out.
    public var refreshToken: String? {
        get { secretRefreshToken?.value }
        set { secretRefreshToken = newValue.map { Secret($0) } }
    }

    /// The value of the header that carries it, or why none can.
    func headerValue() throws(AuthenticationFailure) -> String {
        guard !accessToken.isEmpty, accessToken.utf8.allSatisfy({ ASCII.space < $0 && $0 < ASCII.delete }) else {
            throw AuthenticationFailure(reason: "The access token cannot stand in a header")
        }
        return "Bearer " + accessToken
    }

    /// How long it is still to be used at `date`, if that is known; it is replaced `leeway` before its end.
    ///
    /// Clocks are set, so its age is taken for no less than nothing. A leeway that would eat up a short life is cut to half
    /// of it.
    func remainingUse(at date: Date, leeway: Duration) -> Duration? {
        guard let lifetime = lifetime.map({ min($0, Self.greatestLifetime) }), lifetime > .zero else { return nil }
        let age = obtained.map { max(0, date.timeIntervalSince($0)) } ?? 0
        // No token lives longer than this, and beyond it a duration made of a Double could overflow.
        guard age < Self.greatestLifetime / .seconds(1) else { return .zero }
        return lifetime - .seconds(age) - min(max(leeway, .zero), lifetime / 2)
    }

    /// A hundred years: longer than anybody waits, and short enough to calculate with.
    static let greatestLifetime = Duration.seconds(100 * 365 * 86_400)
}

extension BearerToken: CustomStringConvertible, CustomDebugStringConvertible {
    /// What is known about the token, without any secret.
    public var description: String {
        var facts = [Redaction.text]
        if secretRefreshToken != nil { facts.append("can be refreshed") }
        if let lifetime { facts.append("good for \(lifetime)") }
        return "BearerToken(\(facts.joined(separator: ", ")))"
    }

    /// What is known about the token, without any secret.
    public var debugDescription: String { description }
}
