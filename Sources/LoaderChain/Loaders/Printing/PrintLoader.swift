import Synchronization

/// Prints the requests that go down the chain and the results that come back.
///
/// Put it where you want to look: at the head it shows what the app requests, before the terminal what is sent.
///
/// ```swift
/// let chain = retry --> PrintLoader(bodyLimit: 1_000) --> terminal
/// ```
///
///     → #7 POST https://example.com/v1/users?token=redacted
///         Accept: application/json
///         Authorization: <redacted>
///         {"name":"Ada"}
///     ← #7 201 Created after 12.3 ms, 34 bytes
///         Content-Type: application/json
///         {"name":"Ada","id":1}
///
/// Secret headers and the values of the query are redacted, and characters that would break a line are escaped. Bodies
/// are shown only if you ask for them, up to a limit, and never if the request has ``HTTPRequest/hidesBodies``. The
/// number is the task's, which connects its lines, also those of another such loader. A request is always printed
/// before its result.
public final class PrintLoader: HTTPLoader, @unchecked Sendable {
    private let showsHeaders: Bool
    private let bodyLimit: Int
    private let timers: any Timers
    private let output: @Sendable (String) -> Void

    /// Makes a loader that prints.
    ///
    /// - Parameters:
    ///   - showsHeaders: whether header fields are printed.
    ///   - bodyLimit: how many bytes of a body are printed; 0 for none. A request's body is encoded once more for it.
    ///   - timers: the clock.
    ///   - output: receives each text, of one or more lines, on any thread.
    public init(
        showsHeaders: Bool = true, bodyLimit: Int = 0, timers: any Timers = SystemTimers.shared,
        output: @escaping @Sendable (String) -> Void = { print($0) }
    ) {
        self.showsHeaders = showsHeaders
        self.bodyLimit = bodyLimit
        self.timers = timers
        self.output = output
    }

    /// Prints the request now and the result at the end, and passes the task on.
    public override func load(task: HTTPTask) {
        let number = task.number
        let request = task.request
        let hidesBodies = request.hidesBodies
        output(text(of: request, number))
        let start = timers.now
        task.addCompletionHandler { [self] result in
            output(text(of: result, number, after: start.duration(to: timers.now), hidingBody: hidesBodies))
        }
        super.load(task: task)
    }

    private func text(of request: HTTPRequest, _ number: UInt64) -> String {
        var headers = request.headers
        headers.merge(filling: request.body.additionalHeaders)
        let first = "→ #\(number) \(request.method) \(request.loggableURL)"
        let isHidden = request.hidesBodies && !request.body.isEmpty
        return lines(first, headers, isHidden ? .hidden : PrintedBody(request.body, limit: bodyLimit))
    }

    private func text(
        of result: HTTPResult, _ number: UInt64, after duration: Duration, hidingBody hidesBody: Bool
    ) -> String {
        switch result {
        case .success(let response):
            let size = "\(response.body.count) bytes\(ASCII.printable(response.sourceText))"
            let first = "← #\(number) \(response.status) after \(duration.inMilliseconds), \(size)"
            let isHidden = hidesBody && !response.body.isEmpty
            return lines(first, response.headers, isHidden ? .hidden : PrintedBody(response.body, limit: bodyLimit))
        case .failure(let error):
            return "← #\(number) failed after \(duration.inMilliseconds). " + ASCII.printable("\(error)")
        }
    }

    private func lines(_ first: String, _ headers: HTTPHeaders, _ body: PrintedBody) -> String {
        let shown = (showsHeaders ? headers.map(\.description) : []) + (bodyLimit > 0 ? body.lines : [])
        return ([first] + shown).joined(separator: "\n    ")
    }
}

extension Duration {
    /// The duration to a tenth of a millisecond, as in `12.3 ms`.
    fileprivate var inMilliseconds: String {
        let tenths = self / .microseconds(100)
        let (whole, tenth) = Int64(tenths.rounded()).quotientAndRemainder(dividingBy: 10)
        return "\(whole).\(tenth) ms"
    }
}
