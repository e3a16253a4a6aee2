import LoaderChain

/// What came of one case, as it is compared and as the page words it.
package struct MatrixOutcome: Sendable, Equatable, CustomStringConvertible {
    /// How a request ended for the caller.
    package enum End: Sendable, Equatable {
        case response(Int, String)
        case error(HTTPError.Code)
        /// The process ended with it.
        case crash
    }

    package let end: End
    /// What the server was sent: method, target and the number of bytes of each request.
    var sent: [String]?
    /// What the page says, if the outcome does not speak for itself.
    private var words: String?

    package init(_ end: End) { self.end = end }

    /// A response with status 200.
    static func response(_ body: String, words: String? = nil) -> Self { response(200, body, words: words) }

    /// A response with a body.
    static func response(_ status: Int, _ body: String, words: String? = nil) -> Self {
        var outcome = Self(.response(status, body))
        outcome.words = words
        return outcome
    }

    static func error(_ code: HTTPError.Code) -> Self { Self(.error(code)) }

    static let crash = Self(.crash)

    /// A response to requests that the server saw in this form.
    static func sent(_ requests: String..., body: String = "ok", words: String? = nil) -> Self {
        var outcome = response(200, body, words: words ?? "sent as `\(requests.last ?? "")`")
        outcome.sent = requests
        return outcome
    }

    /// The same, after the server saw requests in this form.
    func after(_ requests: String...) -> Self {
        var copy = self
        copy.sent = requests
        return copy
    }

    /// Whether this is what was expected; what the server saw counts where the expectation names it.
    func meets(_ expected: MatrixOutcome) -> Bool {
        end == expected.end && (expected.sent == nil || sent == expected.sent)
    }

    /// The outcome as a cell of the page.
    var cell: String {
        if let words { return words }
        return switch end {
        case .response(let status, ""): "\(status) without a body"
        case .response(let status, let body): "\(status) with `\(body)`"
        case .error(let code): "`\(code)`"
        case .crash: "**the process ends**"
        }
    }

    package var description: String {
        let end =
            switch end {
            case .response(let status, let body): "\(status) \"\(body.prefix(60))\" (\(body.utf8.count))"
            case .error(let code): "\(code)"
            case .crash: "the process ended"
            }
        return sent.map { "\(end), sent \($0)" } ?? end
    }
}
