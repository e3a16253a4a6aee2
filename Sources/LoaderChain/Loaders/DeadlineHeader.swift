/// Sends the server the time that a request has left, so that it can stop work that is no longer wanted.
///
/// ```swift
/// let chain = retry --> DeadlineHeader() --> terminal  // grpc-timeout: 4900m
/// let other = DeadlineHeader("X-Client-Timeout-Ms", as: .milliseconds)  // X-Client-Timeout-Ms: 4900
/// ```
///
/// HTTP has no field for this, and only a server that knows the field heeds it. The field is a duration and not a date, because
/// clocks differ. Requests without a ``HTTPRequest/deadline``, and requests that have the field, pass unchanged.
///
/// Put it just above the terminal, so that each attempt sends the time that is left then.
public final class DeadlineHeader: HTTPLoader, @unchecked Sendable {
    private let field: String
    private let format: Format

    /// How the time is written.
    public enum Format: Sendable {
        /// A whole number of at most eight digits and a unit, as in gRPC: `900u`, `4900m`, `120000S`.
        case grpc
        /// The whole number of milliseconds.
        case milliseconds
    }

    /// Makes a loader that sets a field; by default `grpc-timeout`.
    public init(_ field: String = "grpc-timeout", as format: Format = .grpc) {
        self.field = field
        self.format = format
    }

    public override func load(task: HTTPTask) {
        if let deadline = task.deadline, !task.request.headers.contains(field) {
            task.request.headers[field] = format.text(deadline.remaining)
        }
        super.load(task: task)
    }

    /// The name of the field.
    public override var details: String { field }
}

extension DeadlineHeader.Format {
    /// The time, rounded down, but not to nothing, which may stand for no limit.
    func text(_ time: Duration) -> String {
        let microseconds = max(1, time.saturatedNanoseconds / 1_000)
        switch self {
        case .milliseconds: return "\(max(1, microseconds / 1_000))"
        case .grpc:
            if microseconds < 1_000 { return "\(microseconds)u" }
            var (count, unit) = (microseconds / 1_000, "m")
            for (size, name) in [(Int64(1_000), "S"), (60, "M"), (60, "H")] where count > Self.greatestCount {
                (count, unit) = (count / size, name)
            }
            return "\(count)\(unit)"
        }
    }

    /// gRPC allows eight digits.
    private static var greatestCount: Int64 { 99_999_999 }
}
