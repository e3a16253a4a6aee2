/// Which of the requests that wait in a ``Throttle`` go first.
///
/// Those of a higher priority do, but not for ever: when eight of them have gone past one that waits, it is that one's
/// turn. So even the lowest goes on, at a ninth of the pace or better.
public enum ThrottlePriority: Comparable, CaseIterable, HTTPRequestOption {
    /// Nobody is waiting for it, as with a prefetch or an upload in the background.
    case low
    /// What most requests have.
    case normal
    /// Somebody is looking at a spinner.
    case high

    /// The priority of requests that name none.
    public static var defaultOptionValue: ThrottlePriority { .normal }
}

extension HTTPRequest {
    /// Which requests go first where some have to wait; ``ThrottlePriority/normal`` unless set.
    public var priority: ThrottlePriority {
        get { self[option: ThrottlePriority.self] }
        set { self[option: ThrottlePriority.self] = newValue }
    }
}
