#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension HTTPLoader {
    /// Loads a request and decodes the body of its response.
    ///
    /// ```swift
    /// let user = try await chain.load(HTTPRequest(url: url), as: User.self)
    /// ```
    ///
    /// The body is decoded by the chain's ``Validate``, where one that cannot be decoded counts as a failure; without one,
    /// at the end. A request that brings no ``HTTPRequest/responseCheck`` demands a status that says success. Without a
    /// decoder, a `JSONDecoder` with its usual settings decodes.
    ///
    /// - Throws: ``HTTPError/Code/invalidResponse`` for a status that does not say success, and
    ///   ``HTTPError/Code/cannotDecodeResponse`` for a body that is something else. Both carry the response.
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
            // Nobody below has checked it, or what they checked has been replaced since.
            if let error = (request.responseCheck ?? .success).verdict(on: response, by: name) { throw error }
            return try decoding.decode(response, for: name)
        } catch {
            throw error.withoutDecodingCheck
        }
    }
}

extension HTTPError {
    /// The error for the caller, whose request never said what it would be decoded as.
    fileprivate var withoutDecodingCheck: HTTPError {
        var error = self
        error.request.decodingCheck = nil
        error.response?.request.decodingCheck = nil
        return error
    }
}
