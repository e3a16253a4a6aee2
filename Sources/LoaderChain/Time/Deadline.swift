/// The instant by which a request must have its result.
///
/// A deadline is set once, where the work begins, and holds for everything that is done for the request: waiting in queues, all
/// attempts and the pauses between them, and the response itself.
///
/// ```swift
/// request.deadline = .after(.seconds(5))
/// ```
///
/// One deadline may limit a whole piece of work, such as a server's handler that makes several requests:
///
/// ```swift
/// let deadline = Deadline.after(.seconds(2))
/// for path in ["/user", "/orders"] {
///     var request = HTTPRequest(host: "api.example.com", path: path)
///     request.deadline = deadline
///     print(try await chain.load(request).status)
/// }
/// ```
///
/// See ``HTTPRequest/deadline`` for what happens when it comes.
///
/// A deadline by the system's clock also counts the time during which the machine sleeps or the app is suspended. It may
/// be noticed late then: when the machine has woken up, and something is about to be done for the request.
public struct Deadline: Sendable {
    private let moment: Moment
    /// How much time there was when the deadline was set.
    let allowance: Duration

    private enum Moment: Sendable {
        /// By the system's clock, sleep included. A `ContinuousClock.Instant` would cost each copy of a deadline calls of
        /// the runtime, which alone knows its size.
        case system(TimerInstant)
        /// By the clock of given timers, such as those of a test.
        case on(any Timers, TimerInstant)
    }

    /// The deadline that comes when `duration` has passed; at once, if that is not positive.
    ///
    /// - Parameters:
    ///   - duration: the time from now.
    ///   - timers: the clock; in a test, that of the chain.
    public static func after(_ duration: Duration, on timers: any Timers = SystemTimers.shared) -> Deadline {
        // Longer than any program runs, and short enough to calculate with.
        let allowance = min(max(.zero, duration), .nanoseconds(Int64.max))
        let moment: Moment =
            timers is SystemTimers
            ? .system(.continuous.advanced(by: allowance)) : .on(timers, timers.now.advanced(by: allowance))
        return Deadline(moment: moment, allowance: allowance)
    }

    /// How much time is left; zero when the deadline has come.
    public var remaining: Duration {
        switch moment {
        case .system(let instant): max(.zero, TimerInstant.continuous.duration(to: instant))
        case .on(let timers, let instant): max(.zero, timers.now.duration(to: instant))
        }
    }

    /// Whether the deadline has come.
    public var hasPassed: Bool { remaining == .zero }

    func isEarlier(than other: Deadline) -> Bool {
        switch (moment, other.moment) {
        case (.system(let own), .system(let others)): own < others
        case (.on(let timers, let own), .on(let otherTimers, let others)) where timers === otherTimers: own < others
        default: remaining < other.remaining
        }
    }

    /// The deadline on the clock of a loader's timers, whose present is `now`.
    func instant(on timers: any Timers, at now: TimerInstant) -> TimerInstant {
        if case .on(let own, let instant) = moment, own === timers { return instant }
        return now.advanced(by: remaining)
    }

    /// Runs `action` when the deadline comes, unless the returned timer is cancelled first.
    func schedule(_ action: @escaping @Sendable () -> Void) -> any ScheduledTimer {
        switch moment {
        case .system: SystemTimers.shared.schedule(after: remaining, action)
        case .on(let timers, let instant): timers.schedule(at: instant, action)
        }
    }
}

extension Deadline: CustomStringConvertible, CustomReflectable {
    /// How much time is left, as in `in 2.5 seconds`.
    public var description: String { "in \(remaining)" }

    /// Empty: a dump would walk through the timers.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The deadline of a request; nil, the default, for none.
package enum DeadlineOption: HTTPRequestOption {
    package static var defaultOptionValue: Deadline? { nil }
}

extension HTTPRequest {
    /// When the request must have its result; nil for no limit.
    ///
    /// When the deadline comes, the task ends wherever it is, in a queue, in a pause or on its way to the server, and fails
    /// with ``HTTPError/Code/deadlineExceeded``. The loader that has it sees a cancel; if it ignores the cancel, the caller
    /// gets its error all the same, which names the loader, and a later completion is dropped. If a loader knows that the time
    /// will not suffice, the task fails earlier: ``Retry`` makes no pause that is longer than the time left, and ``Throttle``
    /// gives no slot to a request that can no longer make it while another waits. A response that is delivered in chunks has
    /// met its deadline when its head has arrived.
    ///
    /// A loader that has a task may set an earlier deadline in its request. It cannot set a later one or remove it, and the
    /// deadline also holds for the attempts that work for the task.
    public var deadline: Deadline? {
        get { self[option: DeadlineOption.self] }
        set { self[option: DeadlineOption.self] = newValue }
    }

    /// Whether the deadline has been set, perhaps to nil; costs next to nothing for a request without options.
    @inline(__always)
    var namesDeadline: Bool {
        !storage.options.values.isEmpty && storage.options.index(of: DeadlineOption.self) != nil
    }
}
