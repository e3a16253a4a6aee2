/// Fills in what a request lacks: the host, the beginning of the path, headers and query items.
///
/// What the request says itself is never changed. It gets a host, with its scheme and port, only if it has none; a path
/// prefix only before a path that does not begin with a slash; headers and query items only where it has none of the
/// name. The request's own ``HTTPRequest/serverEnvironment`` takes the place of the loader's.
///
/// Put it above everything that wants to know the host, such as a `Throttle` with limits per host, a `CircuitBreaker`
/// or ``Deduplicate``; above `Retry` too, so that it works once for all attempts.
///
/// ```swift
/// let chain = ApplyEnvironment(environment: .production) --> terminal
///
/// var request = HTTPRequest(path: "people")
/// request.serverEnvironment = .development
/// ```
///
/// A request with a host of its own gets the headers and query items as well. Credentials do not belong there: leave
/// them to a loader that knows whom they are for.
public final class ApplyEnvironment: HTTPLoader, @unchecked Sendable {
    private let environment: ServerEnvironment

    /// Makes a loader that fills in `environment` wherever a request brings none of its own.
    public init(environment: ServerEnvironment) {
        self.environment = environment
    }

    /// Fills in what is lacking, and passes the task on.
    public override func load(task: HTTPTask) {
        let request = task.request
        if let filled = filled(request) { task.request = filled }
        super.load(task: task)
    }

    // Apart, because to choose with `??` would copy the loader's environment for every request.
    private func filled(_ request: HTTPRequest) -> HTTPRequest? {
        if let own = request.serverEnvironment { return own.filled(request) }
        return environment.filled(request)
    }

    /// The host.
    public override var details: String { environment.host }
}
