/// Tokens that come at an even pace, as many as the bucket holds, and go one for each request.
///
/// All is counted in whole numbers. The unit is what one nanosecond adds for a single request per period, so that a token
/// is as many units as the period has nanoseconds, and each nanosecond adds as many as there are requests per period.
///
/// In any stretch of time, however it lies, no more tokens go than the bucket holds and than come meanwhile.
struct TokenBucket {
    private(set) var rate: RateLimit.Rate
    private var content: Int128
    private var present: TimerInstant

    /// A full bucket.
    init(_ rate: RateLimit.Rate, at now: TimerInstant) {
        self.rate = rate
        content = Self.capacity(of: rate)
        present = now
    }

    /// Takes a token, and answers whether there was one.
    mutating func take(at now: TimerInstant) -> Bool {
        move(to: now)
        guard content >= Self.token(of: rate) else { return false }
        content -= Self.token(of: rate)
        return true
    }

    /// When the next token will be there, or the one after `others` more, if none goes before; for each of the others it may be
    /// a nanosecond later.
    mutating func nextToken(after others: Int = 0, at now: TimerInstant) -> TimerInstant {
        move(to: now)
        let missing = max(0, Self.token(of: rate) * (Int128(others) + 1) - content)
        let pace = Int128(rate.requests)
        return TimerInstant(nanoseconds: Int64(clamping: Int128(present.nanoseconds) + (missing + pace - 1) / pace))
    }

    /// Whether it is as good as a new one.
    func isFull(at now: TimerInstant) -> Bool {
        var later = self
        later.move(to: now)
        return later.content == Self.capacity(of: rate)
    }

    /// Goes on at another pace, with the tokens that are there, also the begun one, as far as there is room.
    mutating func change(to newRate: RateLimit.Rate, at now: TimerInstant) {
        move(to: now)
        // Token by token, because the product of a whole content and a period may be too large.
        let (tokens, begun) = content.quotientAndRemainder(dividingBy: Self.token(of: rate))
        let converted = tokens * Self.token(of: newRate) + begun * Self.token(of: newRate) / Self.token(of: rate)
        content = min(converted, Self.capacity(of: newRate))
        rate = newRate
    }

    /// Lets come what comes until `now`; an earlier instant than the last one counts as the last one.
    private mutating func move(to now: TimerInstant) {
        guard now > present else { return }
        let passed = Int128(now.nanoseconds) - Int128(present.nanoseconds)
        content = min(content + passed * Int128(rate.requests), Self.capacity(of: rate))
        present = now
    }

    private static func token(of rate: RateLimit.Rate) -> Int128 { Int128(rate.nanosecondsPerPeriod) }

    private static func capacity(of rate: RateLimit.Rate) -> Int128 { Int128(rate.burst) * token(of: rate) }
}
