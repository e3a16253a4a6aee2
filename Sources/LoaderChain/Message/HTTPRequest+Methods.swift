extension HTTPRequest {
    /// A GET.
    ///
    /// ```swift
    /// let people: [Person] = try await chain.load(.get("people", query: ["page": "2"]))
    /// ```
    ///
    /// A path that begins with a slash stays as it is; to any other, ``ApplyEnvironment`` adds its prefix. For a whole URL, use
    /// ``init(method:url:headers:body:)``.
    ///
    /// - Parameters:
    ///   - path: the path. A question mark becomes part of it.
    ///   - query: the names and values of the query, in order; with nil, a name stands alone. It is a literal: for names that a program
    ///     computes, set ``queryItems``.
    public static func get(_ path: String, query: KeyValuePairs<String, String?> = [:]) -> HTTPRequest {
        HTTPRequest(.get, path, query)
    }

    /// A HEAD, whose response has the headers of a GET and no body.
    public static func head(_ path: String, query: KeyValuePairs<String, String?> = [:]) -> HTTPRequest {
        HTTPRequest(.head, path, query)
    }

    /// A DELETE.
    public static func delete(_ path: String, query: KeyValuePairs<String, String?> = [:]) -> HTTPRequest {
        HTTPRequest(.delete, path, query)
    }

    /// A POST of a body; by default an empty one.
    ///
    /// ```swift
    /// try await chain.load(.post("photos", body: FileBody(photo))) { $0.onProgress = { show($0.fractionSent) } }
    /// ```
    public static func post(
        _ path: String, query: KeyValuePairs<String, String?> = [:], body: any HTTPBody = EmptyBody()
    ) -> HTTPRequest {
        HTTPRequest(.post, path, query, body)
    }

    /// A POST of a value as JSON.
    ///
    /// ```swift
    /// let saved: Article = try await chain.load(.post("articles", json: article))
    /// ```
    ///
    /// For an encoder of your own, use ``post(_:query:body:)`` with a ``JSONBody``.
    public static func post(
        _ path: String, query: KeyValuePairs<String, String?> = [:], json value: some Encodable
    ) -> HTTPRequest {
        HTTPRequest(.post, path, query, JSONBody(value))
    }

    /// A PUT of a body; by default an empty one.
    public static func put(
        _ path: String, query: KeyValuePairs<String, String?> = [:], body: any HTTPBody = EmptyBody()
    ) -> HTTPRequest {
        HTTPRequest(.put, path, query, body)
    }

    /// A PUT of a value as JSON.
    public static func put(
        _ path: String, query: KeyValuePairs<String, String?> = [:], json value: some Encodable
    ) -> HTTPRequest {
        HTTPRequest(.put, path, query, JSONBody(value))
    }

    /// A PATCH of a body; by default an empty one.
    public static func patch(
        _ path: String, query: KeyValuePairs<String, String?> = [:], body: any HTTPBody = EmptyBody()
    ) -> HTTPRequest {
        HTTPRequest(.patch, path, query, body)
    }

    /// A PATCH of a value as JSON.
    public static func patch(
        _ path: String, query: KeyValuePairs<String, String?> = [:], json value: some Encodable
    ) -> HTTPRequest {
        HTTPRequest(.patch, path, query, JSONBody(value))
    }

    private init(
        _ method: HTTPMethod, _ path: String, _ query: KeyValuePairs<String, String?>,
        _ body: any HTTPBody = EmptyBody()
    ) {
        self.init(
            method: method, path: path, queryItems: query.map { HTTPQueryItem($0.key, $0.value) }, body: body)
    }

    func with(_ change: (inout HTTPRequest) -> Void) -> HTTPRequest {
        var request = self
        change(&request)
        return request
    }
}
