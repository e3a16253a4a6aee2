/// Whether a ``Throttle`` may make a request wait.
///
/// ```swift
/// request.throttle = .never
/// ```
public enum ThrottleOption: HTTPRequestOption {
    /// The request is counted, and waits if there are too many.
    case always
    /// The request goes straight through and is not counted.
    case never

    /// Requests are throttled unless they say otherwise.
    public static var defaultOptionValue: ThrottleOption { .always }
}

extension HTTPRequest {
    /// Whether a ``Throttle`` may make the request wait; ``ThrottleOption/always`` unless set.
    public var throttle: ThrottleOption {
        get { self[option: ThrottleOption.self] }
        set { self[option: ThrottleOption.self] = newValue }
    }
}

/// What a request is counted by in a ``Throttle``, instead of by its host.
public enum ThrottleKeyOption: HTTPRequestOption {
    /// Requests are counted by their hosts.
    public static var defaultOptionValue: String? { nil }
}

/// The name of the ``ThrottlePartition`` that a request belongs to.
public enum ThrottlePartitionOption: HTTPRequestOption {
    /// Requests belong to no partition.
    public static var defaultOptionValue: String? { nil }
}

extension HTTPRequest {
    /// What a ``Throttle`` with limits per host counts the request by, instead of by its host; nil unless set.
    ///
    /// Use it for services that are behind one host, and for hosts that are one service:
    ///
    /// ```swift
    /// throttle.hostLimits["search"] = 2  // The other services may have as many as `perHost` says.
    /// request.throttleKey = "search"
    /// ```
    ///
    /// An adaptive limit per host is then found for the key. A key is never the same as a host, however it is spelled.
    public var throttleKey: String? {
        get { self[option: ThrottleKeyOption.self] }
        set { self[option: ThrottleKeyOption.self] = newValue }
    }

    /// The name of the ``ThrottlePartition`` that the request belongs to; nil, the default, for that of all others.
    public var throttlePartition: String? {
        get { self[option: ThrottlePartitionOption.self] }
        set { self[option: ThrottlePartitionOption.self] = newValue }
    }

    /// What a throttle counts the request by.
    var throttleOrigin: HTTPOrigin { throttleKey.map(HTTPOrigin.key) ?? origin }
}

/// Which of the requests that wait in a ``Throttle`` go first.
///
/// Those of a higher priority do, but not for ever. When eight of them have gone past one that could have run, it is that
/// one's turn; and where there is a limit per host, no more than eight of them start at its host before it. So even the
/// lowest goes on, at a ninth of the pace or better, whatever other hosts are asked for meanwhile. A throttle's `patience`
/// bounds the time as well.
public enum ThrottlePriority: Comparable, CaseIterable, HTTPRequestOption {
    /// No user waits for it, as with a prefetch or an upload in the background.
    case low
    /// What most requests have.
    case normal
    /// A user is looking at a spinner.
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
