/// When a stream of events connects again: decisions, without a clock.
struct Reconnection: Sendable {
    private let maximumDelay: Duration
    private let pacing: Pacing
    /// How long to wait at least.
    private var time: Duration
    /// How many connections in a row have ended without an event.
    private var failures = 0

    init(_ settings: EventStream.Settings) {
        maximumDelay = Pacing.clamped(settings.maximumDelay)
        pacing = Pacing(first: .seconds(1), maximum: maximumDelay)
        time = min(Pacing.clamped(settings.reconnectionTime), maximumDelay)
    }

    /// Notes that an event has arrived, so that the connection was of use.
    mutating func noteEvent() { failures = 0 }

    /// Notes that there is a network again, so that earlier failures say nothing any more.
    mutating func noteNetwork() { failures = 0 }

    /// Notes how long the server wants to be left alone.
    mutating func noteTime(_ asked: Duration) { time = min(Pacing.clamped(asked), maximumDelay) }

    /// Returns how long to wait after the end of a connection.
    ///
    /// The random part spreads clients whose server was started again, and keeps one that asks for no delay from being asked in a
    /// tight loop. It grows while no event arrives.
    ///
    /// - Parameter roll: chance, from 0 up to 1.
    mutating func delay(roll: Double) -> Duration {
        failures += 1
        return time + pacing.delay(afterFailures: failures, roll: roll)
    }

    /// Whether a connection that ended with an error is made again.
    static func isTemporary(_ error: HTTPError) -> Bool {
        switch ResultMeaning(error) {
        case .unreachable, .lost: true
        default: false
        }
    }
}
