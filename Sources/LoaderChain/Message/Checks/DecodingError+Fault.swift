extension HTTPError {
    /// The error for a value that cannot be decoded.
    ///
    /// - Parameter what: what was decoded, such as "The body of 12 bytes".
    static func undecodable(
        _ what: String, as type: Any.Type, of response: HTTPResponse, _ error: any Error, loader: String? = nil
    ) -> HTTPError {
        let fault = (error as? DecodingError).map { ": \($0.fault)" } ?? ""
        return HTTPError(
            .cannotDecodeResponse, request: response.request, response: response, underlyingError: error,
            reason: "\(what) cannot be decoded as \(type)\(fault)", loader: loader)
    }
}

extension DecodingError {
    /// Where in the value the fault is, and what is wrong there, without anything of the value itself.
    ///
    /// The names are those of the type's own keys. The keys of a dictionary are part of the value.
    fileprivate var fault: String {
        switch self {
        case .keyNotFound(let key, let context): "\(Self.text(context.codingPath + [key])) is missing"
        case .valueNotFound(let type, let context): "\(Self.text(context.codingPath)) is null, and \(type) is expected"
        case .typeMismatch(let type, let context): "\(Self.text(context.codingPath)) is not of type \(type)"
        // Foundation's own words for what cannot even be parsed.
        case .dataCorrupted(let context) where context.debugDescription.contains("not valid JSON"):
            "it is not valid JSON"
        case .dataCorrupted(let context): "\(Self.text(context.codingPath)) is not valid"
        @unknown default: "it is not valid"
        }
    }

    /// A path such as `items[1].name`, with `[…]` for a key that the type does not declare.
    private static func text(_ path: [any CodingKey]) -> String {
        var text = ""
        for key in path {
            // A type's own keys are cases without a value. All others may come from the data, except Foundation's for a place in an
            // array, which is known by its words.
            let mirror = Mirror(reflecting: key)
            if let index = key.intValue, key.stringValue == "Index \(index)" {
                text += "[\(index)]"
            } else if mirror.displayStyle == .enum, mirror.children.isEmpty {
                text += (text.isEmpty ? "" : ".") + ASCII.printable(key.stringValue)
            } else {
                text += "[…]"
            }
        }
        return text.isEmpty ? "the whole value" : text
    }
}
