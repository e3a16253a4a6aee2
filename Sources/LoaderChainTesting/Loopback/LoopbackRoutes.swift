import LoaderChain

/// The responses to each path and method.
struct LoopbackRoutes {
    typealias Answer = @Sendable (LoopbackRequest) -> LoopbackReply

    private struct Key: Hashable {
        let path: String
        let method: HTTPMethod?
    }

    private var answers: [Key: Answer] = [:]
    private var fallback: Answer?

    /// Sets a response, and returns the one it replaces, so that it is released after unlocking.
    mutating func set(_ answer: @escaping Answer, path: String, method: HTTPMethod?) -> Answer? {
        answers.updateValue(answer, forKey: Key(path: path, method: method))
    }

    /// Sets the response to all other requests, and returns the one it replaces.
    mutating func set(fallback answer: @escaping Answer) -> Answer? {
        defer { fallback = answer }
        return fallback
    }

    /// The response for path and method, else the one for the path, else the fallback.
    func answer(to request: LoopbackRequest) -> Answer? {
        let path = request.path
        return answers[Key(path: path, method: request.method)] ?? answers[Key(path: path, method: nil)] ?? fallback
    }
}
