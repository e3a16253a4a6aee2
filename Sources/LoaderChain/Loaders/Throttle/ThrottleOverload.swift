import Synchronization

/// A rule of a ``Throttle``: the waits that count as an overload, and the reaction to them.
///
/// ```swift
/// let throttle = Throttle(limit: 8, overload: ThrottleOverload(target: .seconds(1)))
/// ```
///
/// **The rule.** A queue that is long for a moment does no harm, but one that never gets shorter makes every task late. The
/// throttle therefore looks twice in each ``target`` at how long the task that came first has waited. If that is more than the
/// target at each look for an ``interval``, the queue *stands*: the ``Throttle/pressure`` is elevated. It is critical if the
/// first of normal or high priority has waited that long. It falls again when the wait is at most half the target at each look
/// for an interval, or when nothing runs and nothing waits.
///
/// **Shedding.** While a queue stands, no more tasks may wait than can be passed on within a target: of each priority at most
/// the number of tasks that were passed on of it and of lower ones in the last target, and at least one. At elevated pressure
/// this holds for low priority alone, at critical pressure for all. If more wait, the waiter of the lowest priority whose turn
/// would come last fails with ``HTTPError/Code/shed``: no task fails while a task of a lower priority waits. So all that wait
/// have a short wait ahead, the queue never runs dry, and a caller that must try again knows it at once.
///
/// If tasks are counted per host or per partition, each host in each partition has a queue of its own. While a limit is 0,
/// nothing is an overload.
///
/// A throttle has no such rule unless it is given one, because a task that fails early is a change that a program must expect,
/// and because the clock is read for each task that waits.
public struct ThrottleOverload: Hashable, Sendable {
    /// The longest wait that does not count as an overload; at least the usual duration of a request.
    public var target: Duration
    /// For how long the waits must be too long, or short enough again.
    public var interval: Duration
    /// Whether tasks are refused; otherwise only the ``Throttle/pressure`` changes.
    public var sheds: Bool

    /// Makes a rule, by default one that sheds.
    public init(target: Duration = .seconds(1), interval: Duration = .seconds(2), sheds: Bool = true) {
        self.target = target
        self.interval = interval
        self.sheds = sheds
    }

    /// The time between looks.
    var period: Duration { max(.milliseconds(1), min(target, .seconds(86_400)) / 2) }

    /// How many looks make an interval.
    fileprivate var looks: Int {
        Int(clamping: max(0, interval.saturatedNanoseconds) / period.saturatedNanoseconds + 1)
    }
}

/// How hard it is to get a slot of a throttle; see ``Throttle/pressure``.
///
/// There may be more levels in the future, also between these.
public struct ThrottlePressure: Hashable, Comparable, Sendable, RawRepresentable, CustomStringConvertible {
    /// The higher, the harder.
    public let rawValue: Int

    /// Makes a level.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Tasks wait briefly or not at all.
    public static let none = ThrottlePressure(rawValue: 0)
    /// Some tasks wait for too long: leave out what the user would not miss.
    public static let elevated = ThrottlePressure(rawValue: 100)
    /// Not only those of low priority do: ask only for what the user waits for.
    public static let critical = ThrottlePressure(rawValue: 200)

    /// Whether the pressure is lower.
    public static func < (left: ThrottlePressure, right: ThrottlePressure) -> Bool { left.rawValue < right.rawValue }

    /// The name of the level.
    public var description: String {
        switch self {
        case .none: "none"
        case .elevated: "elevated"
        case .critical: "critical"
        default: "\(rawValue)"
        }
    }
}

extension Throttle {
    /// How hard it is to get a slot, as it was at the last look; none unless the throttle has a rule for an ``ThrottleOverload``.
    ///
    /// An app may ask for less while it is high, before requests of normal priority are refused:
    ///
    /// ```swift
    /// if throttle.pressure < .elevated { print("there is capacity for a prefetch") }
    /// ```
    ///
    /// If tasks are counted per host or per partition, it is the highest pressure of all.
    public var pressure: ThrottlePressure { lookout?.pressure ?? .none }

    /// The pressure now, and each time that it changes; a stream that is not read in time skips to the newest.
    ///
    /// ```swift
    /// for await pressure in throttle.pressures { print(pressure >= .elevated ? "ask for less" : "go on") }
    /// ```
    ///
    /// The stream ends when the throttle is released.
    public var pressures: AsyncStream<ThrottlePressure> { lookout?.listeners.stream() ?? Self.calm }

    private static var calm: AsyncStream<ThrottlePressure> {
        let listeners = Listeners(latest: ThrottlePressure.none)
        defer { listeners.end() }
        return listeners.stream()
    }

    /// Looks at the waits after a while, unless that is about to happen.
    func watchWaits(_ lookout: ThrottleLookout) {
        guard lookout.begin() else { return }
        let next = timers.now.advanced(by: lookout.period)
        lookout.alarm.set(on: timers, for: { next }) { [weak self] in self?.look() }
    }

    /// Looks at the waits, and goes on with that until all is calm.
    private func look() {
        guard let lookout else { return }
        let pressure = core.look()
        while let waiter = core.surplus() { shed(waiter) }
        if let change = lookout.end(pressure) {
            lookout.listeners.tell(change)
            core.report(change)
        }
        lookout.rest()
        if pressure > .none || core.with({ $0.waiting > 0 }) { watchWaits(lookout) }
    }

    /// Fails a task that may not wait because of an overload.
    @inline(never)
    func shed(_ waiter: ThrottleWaiter) {
        core.report(.shed, of: waiter)
        guard let task = waiter.end() else { return }
        let target = lookout?.target ?? .zero
        fail(
            task, .shed,
            reason: """
                Tasks have waited for longer than \(target) for a while, so only those may wait that have a chance soon, and this \
                one had the lowest priority. Ask for less while the throttle's pressure is high, and for this again later
                """)
    }
}

/// When a throttle looks at its waits, and what it last saw; a look begins after the last has ended, so levels are reported in order.
final class ThrottleLookout: Sendable {
    let target: Duration
    let period: Duration
    let listeners = Listeners(latest: ThrottlePressure.none)
    let alarm = Alarm()
    private let level = Atomic(ThrottlePressure.none.rawValue)
    /// Whether a look is scheduled or under way.
    private let isLooking = Atomic(false)

    init(_ overload: ThrottleOverload) {
        target = overload.target
        period = overload.period
    }

    deinit {
        alarm.end()
        listeners.end()
    }

    var pressure: ThrottlePressure { ThrottlePressure(rawValue: level.load(ordering: .relaxed)) }

    /// Begins to look; false if a look is scheduled or under way.
    func begin() -> Bool {
        !isLooking.load(ordering: .relaxed) && !isLooking.exchange(true, ordering: .acquiringAndReleasing)
    }

    /// Takes what the look has seen, and returns it if that is new.
    func end(_ pressure: ThrottlePressure) -> ThrottlePressure? {
        level.exchange(pressure.rawValue, ordering: .relaxed) == pressure.rawValue ? nil : pressure
    }

    /// Lets the next look begin.
    func rest() { isLooking.store(false, ordering: .sequentiallyConsistent) }
}

/// Whether one queue stands, and how many may wait in it then; looked at in even periods.
struct ThrottleStrain {
    /// A yes that needs the same sign at each look for an interval, to come and to go.
    private struct Verdict {
        private(set) var holds = false
        /// How many looks in a row have contradicted it.
        private var contradictions = 0

        mutating func look(at wait: ThrottleAge?, _ rule: Rule) {
            let contradicts = holds ? wait ?? .zero <= rule.relief : wait ?? .zero > rule.target
            contradictions = contradicts ? contradictions + 1 : 0
            if contradictions >= rule.looks { (holds, contradictions) = (!holds, 0) }
        }
    }

    /// The settings, in the measures of the looks.
    struct Rule {
        fileprivate let target: ThrottleAge
        /// The wait up to which the pressure falls again.
        fileprivate let relief: ThrottleAge
        fileprivate let looks: Int
        fileprivate let sheds: Bool

        init(_ settings: ThrottleOverload) {
            target = ThrottleAge(settings.target)
            relief = ThrottleAge(settings.target / 2)
            looks = settings.looks
            sheds = settings.sheds
        }
    }

    /// Whether the first of all has waited for too long, and the first of normal or high priority.
    private var ofAny = Verdict()
    private var ofUpper = Verdict()
    /// The number that were passed on since the last look, and between that look and the look before.
    private var starts = PerPriority(0)
    private var startsBefore = PerPriority(0)
    /// How many may wait of each priority.
    private(set) var most = PerPriority(Int.max)

    var pressure: ThrottlePressure { ofUpper.holds ? .critical : ofAny.holds ? .elevated : .none }

    /// Counts a task that is passed on.
    mutating func count(_ priority: ThrottlePriority) { starts.change(priority) { $0 += 1 } }

    /// Looks at how long the first of each priority has waited.
    mutating func look(at waits: PerPriority<ThrottleAge?>, by rule: Rule) {
        let upper = [waits.normal, waits.high].compactMap { $0 }.max()
        ofUpper.look(at: upper, rule)
        ofAny.look(at: [upper, waits.low].compactMap { $0 }.max(), rule)
        let low = starts.low + startsBefore.low
        let normal = low + starts.normal + startsBefore.normal
        let high = normal + starts.high + startsBefore.high
        (startsBefore, starts) = (starts, PerPriority(0))
        most = PerPriority(.max)
        guard rule.sheds, pressure > .none else { return }
        most.low = max(1, low)
        guard ofUpper.holds else { return }
        most.normal = max(1, normal)
        most.high = max(1, high)
    }
}

/// A time span of the throttle's queues, in units of about a millisecond.
///
/// An age has 32 bits, so that the time of arrival does not enlarge a waiter; a wait of seven weeks looks like a short one.
struct ThrottleAge: Comparable {
    private let units: UInt32

    static let zero = ThrottleAge(units: 0)

    private init(units: UInt32) { self.units = units }

    init(_ duration: Duration) { units = UInt32(clamping: max(0, duration.saturatedNanoseconds) >> Self.shift) }

    init(since mark: UInt32, at now: TimerInstant) { units = Self.mark(of: now) &- mark }

    static func mark(of instant: TimerInstant) -> UInt32 { UInt32(truncatingIfNeeded: instant.nanoseconds >> shift) }

    private static let shift = 20

    static func < (left: ThrottleAge, right: ThrottleAge) -> Bool { left.units < right.units }
}
