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
