/// Fills in what a request lacks: the host, the beginning of the path, headers and query items.
///
/// What the request has is never changed. It gets a host, with its scheme and port, only if it has none; a path prefix
/// only if its path does not begin with a slash; headers and query items only if it has none of that name. The
/// request's own ``HTTPRequest/serverEnvironment`` replaces the loader's.
///
/// Put it above loaders that read the host, such as a `Throttle` with limits per host, a `CircuitBreaker` or
/// ``Deduplicate``; above `Retry` too, so that it works once for all attempts.
///
/// ```swift
/// let chain = ApplyEnvironment(environment: .production) --> terminal
///
/// var request = HTTPRequest(path: "people")
/// request.serverEnvironment = .development
/// ```
///
/// A request with its own host gets the headers and query items as well. Do not put credentials there: use a loader
/// that knows which hosts they are for.
public final class ApplyEnvironment: HTTPLoader, @unchecked Sendable {
    private let environment: ServerEnvironment

    /// Makes a loader that fills in `environment` for requests without one of their own.
    public init(environment: ServerEnvironment) { self.environment = environment }

    /// Fills in what is missing, and passes the task on.
    public override func load(task: HTTPTask) {
        let request = task.request
        if let filled = filled(request) { task.request = filled }
        super.load(task: task)
    }

    // A function of its own, because choosing with `??` would copy the loader's environment for every request.
    private func filled(_ request: HTTPRequest) -> HTTPRequest? {
        if let own = request.serverEnvironment { return own.filled(request) }
        return environment.filled(request)
    }

    /// The host.
    public override var details: String { environment.host }
}
