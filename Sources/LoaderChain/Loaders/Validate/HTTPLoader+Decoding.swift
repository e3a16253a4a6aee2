import LoaderChainPlatformFoundation

extension HTTPLoader {
    /// Loads a request and decodes the body of its response.
    ///
    /// ```swift
    /// let user = try await chain.load(HTTPRequest(url: url), as: User.self)
    /// ```
    ///
    /// The chain's ``Validate`` decodes the body, so that a body that cannot be decoded counts as a failure there;
    /// without one, the body is decoded at the end. A request without a ``HTTPRequest/responseCheck`` requires a
    /// success status. Without a decoder, a `JSONDecoder` with default settings is used.
    ///
    /// - Throws: ``HTTPError/Code/invalidResponse`` for any other status, and ``HTTPError/Code/cannotDecodeResponse``
    ///   for a body that cannot be decoded. Both have the response.
    public final func load<Value: Decodable & Sendable>(
        _ request: HTTPRequest, as type: Value.Type = Value.self, decoder: JSONDecoder? = nil
    ) async throws(HTTPError) -> Value {
        let decoding = BodyDecoding<Value>(decoder: decoder, keepsValue: true)
        let decodingCheck = ResponseCheck(rules: [.decoding(decoding)])
        var decoded = request
        decoded.decodingCheck = request.responseCheck == nil ? .success.and(decodingCheck) : decodingCheck
        if !decoded.headers.contains("Accept") { decoded.headers["Accept"] = "application/json" }
        do throws(HTTPError) {
            let response = try await load(decoded)
            if let value = decoding.takeValue(for: response) { return value }
            // No loader below has checked the response, or it was replaced since.
            if let error = (request.responseCheck ?? .success).verdict(on: response, by: name) { throw error }
            return try decoding.decode(response, for: name)
        } catch {
            throw error.withoutDecodingCheck
        }
    }
}

extension HTTPError {
    /// The error without the check that decoding added to the caller's request.
    fileprivate var withoutDecodingCheck: HTTPError {
        var error = self
        error.request.decodingCheck = nil
        error.response?.request.decodingCheck = nil
        return error
    }
}
