import LoaderChain

/// Which answer goes with which request.
struct LoopbackRoutes {
    typealias Answer = @Sendable (LoopbackRequest) -> LoopbackReply

    private struct Key: Hashable {
        let path: String
        let method: HTTPMethod?
    }

    private var answers: [Key: Answer] = [:]
    private var fallback: Answer?

    /// Sets an answer and returns the one it replaces, for the caller to let go of outside the lock.
    mutating func set(_ answer: @escaping Answer, path: String, method: HTTPMethod?) -> Answer? {
        answers.updateValue(answer, forKey: Key(path: path, method: method))
    }

    /// Sets the answer to all else, and returns the one it replaces.
    mutating func set(fallback answer: @escaping Answer) -> Answer? {
        defer { fallback = answer }
        return fallback
    }

    /// The answer of a path and a method, else of the path alone, else the one to all else.
    func answer(to request: LoopbackRequest) -> Answer? {
        let path = request.path
        return answers[Key(path: path, method: request.method)] ?? answers[Key(path: path, method: nil)] ?? fallback
    }
}
