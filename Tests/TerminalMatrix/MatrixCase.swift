import LoaderChain
import LoaderChainTesting

/// One row of the matrix: a request, what the server does with it, and what each terminal makes of that.
package struct MatrixCase: Sendable {
    /// The server's part.
    enum Answer: Sendable {
        /// A server that answers every request.
        case reply(@Sendable (LoopbackRequest) -> LoopbackReply)
        /// A server, or a proxy, that ends every connection.
        case end(isProxy: Bool)
        /// A server that speaks TLS.
        case tls(MatrixIdentity)
        /// A tunnel, opened by a proxy with this head, to a server that speaks TLS.
        case tunnel(MatrixIdentity, head: String)
        /// A proxy that answers instead of opening a tunnel, or passes plain requests on.
        case proxy(@Sendable (LoopbackRequest) -> LoopbackReply)
        /// A port on which nothing listens.
        case nothing
    }

    package let group: MatrixGroup
    /// What is special about the case, as the page names it.
    package let name: String
    let answer: Answer
    let change: @Sendable (inout HTTPRequest) -> Void
    private let expected: MatrixOutcome
    private var exceptions: [MatrixTerminal.Name: MatrixOutcome] = [:]

    init(
        _ group: MatrixGroup, _ name: String, _ answer: Answer, expecting expected: MatrixOutcome,
        urlSession: MatrixOutcome? = nil,
        request change: @escaping @Sendable (inout HTTPRequest) -> Void = { _ in }
    ) {
        self.group = group
        self.name = name
        self.answer = answer
        self.change = change
        self.expected = expected
        exceptions[.urlSession] = urlSession
    }

    /// What this terminal should make of it.
    func expectation(of terminal: MatrixTerminal.Name) -> MatrixOutcome { exceptions[terminal] ?? expected }
}
