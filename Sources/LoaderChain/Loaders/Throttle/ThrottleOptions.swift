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

/// The key by which a ``Throttle`` counts a request; nil, the default, for its host.
package enum ThrottleKeyOption: HTTPRequestOption {
    package static var defaultOptionValue: String? { nil }
}

/// The name of the ``ThrottlePartition`` that a request belongs to; nil, the default, for that of all others.
package enum ThrottlePartitionOption: HTTPRequestOption {
    package static var defaultOptionValue: String? { nil }
}

extension HTTPRequest {
    /// The key by which a ``Throttle`` with limits per host counts the request, instead of by its host; nil unless set.
    ///
    /// Use it for services that are behind one host, and for hosts that are one service:
    ///
    /// ```swift
    /// throttle.hostLimits["search"] = 2  // The other services keep the limit `perHost`.
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

    var throttleOrigin: HTTPOrigin { throttleKey.map(HTTPOrigin.key) ?? origin }
}

/// The priority of a request that waits in a ``Throttle``.
///
/// Higher priorities go first, but lower ones never starve: after eight tasks of higher priority have overtaken a waiter that
/// could run, it goes next; and if there is a limit per host, no more than eight of them start at its host before it. So even
/// the lowest priority keeps at least a ninth of the pace, whatever other hosts are asked for meanwhile. A throttle's
/// `patience` bounds the time as well.
public enum ThrottlePriority: Comparable, CaseIterable, HTTPRequestOption {
    /// No user waits for it, as with a prefetch or an upload in the background.
    case low
    /// The priority of most requests.
    case normal
    /// A user is looking at a spinner.
    case high

    /// The priority of requests that name none.
    public static var defaultOptionValue: ThrottlePriority { .normal }
}

extension HTTPRequest {
    /// The priority if requests have to wait; ``ThrottlePriority/normal`` unless set.
    public var priority: ThrottlePriority {
        get { self[option: ThrottlePriority.self] }
        set { self[option: ThrottlePriority.self] = newValue }
    }
}
