/// The deadline of a request; nil, the default, for none.
public enum DeadlineOption: HTTPRequestOption {
    /// No deadline.
    public static var defaultOptionValue: Deadline? { nil }
}

extension HTTPRequest {
    /// When the request must have its result; nil for no limit.
    ///
    /// When the deadline comes, the task ends wherever it is, in a queue, in a pause or on its way to the server, and fails
    /// with ``HTTPError/Code/deadlineExceeded``. The loader that has it sees a cancel; if it ignores that, the caller has its
    /// error all the same, which names the loader, and whatever it completes the task with later is dropped. Where a loader can tell that the time
    /// will not suffice, the task fails earlier: ``Retry`` makes no pause that is longer than what is left, and
    /// ``Throttle`` gives no slot to a request that can no longer make it while another waits. A response that is delivered
    /// in chunks has met its deadline when its head has arrived.
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
