import LoaderChainPlatformFoundation

/// Decodes bodies, and can keep the last value.
///
/// The value is kept together with the response that it came from. A body is therefore decoded where it is checked and
/// not again at the head of the chain, and a response that was replaced on its way up is decoded again.
final class BodyDecoding<Value: Decodable & Sendable>: ResponseDecoding {
    private let decoder: JSONDecoder?
    private let keepsValue: Bool
    private let kept = Locked<Kept?>(nil)

    private struct Kept {
        let status: HTTPStatus
        let body: Data
        let value: Value
    }

    init(decoder: JSONDecoder?, keepsValue: Bool) {
        self.decoder = decoder
        self.keepsValue = keepsValue
    }

    var identity: DecodingIdentity {
        DecodingIdentity(type: ObjectIdentifier(Value.self), decoder: decoder.map { ObjectIdentifier($0) })
    }

    func verdict(on response: HTTPResponse) -> HTTPError? {
        do throws(HTTPError) {
            let value = try decode(response)
            if keepsValue { keep(Kept(status: response.status, body: response.body, value: value)) }
            return nil
        } catch {
            return error
        }
    }

    /// Decodes the body of a response; an error names `loader`.
    func decode(_ response: HTTPResponse, for loader: String? = nil) throws(HTTPError) -> Value {
        do {
            return try (decoder ?? JSONDecoder()).decode(Value.self, from: response.body)
        } catch {
            throw .undecodable(
                "The body of \(response.body.count) bytes", as: Value.self, of: response, error, loader: loader)
        }
    }

    /// Removes and returns the kept value, if it came from an equal response.
    func takeValue(for response: HTTPResponse) -> Value? {
        guard let kept = keep(nil), kept.status == response.status, kept.body == response.body else { return nil }
        return kept.value
    }

    /// Keeps a value, and returns the previous one, so that it ends outside the lock.
    @discardableResult
    private func keep(_ new: Kept?) -> Kept? {
        kept.withLock { replace(&$0, with: new) }
    }
}

extension HTTPResponse {
    /// The body, decoded from JSON.
    ///
    /// ```swift
    /// for try await page in chain.pages(of: .get("names")) { print(try page.decoded(as: [String].self)) }
    /// ```
    ///
    /// - Throws: an ``HTTPError/Code/cannotDecodeResponse`` that says where in the body the fault is.
    public func decoded<Value: Decodable & Sendable>(
        as type: Value.Type = Value.self, decoder: JSONDecoder? = nil
    ) throws(HTTPError) -> Value {
        try BodyDecoding<Value>(decoder: decoder, keepsValue: false).decode(self)
    }
}

/// A check that a body can be decoded, without the type.
protocol ResponseDecoding: Sendable {
    /// Equal for two checks that decode in the same way.
    var identity: DecodingIdentity { get }

    /// The error for a response; nil if its body can be decoded.
    func verdict(on response: HTTPResponse) -> HTTPError?
}

struct DecodingIdentity: Hashable {
    let type: ObjectIdentifier
    let decoder: ObjectIdentifier?
}

extension HTTPError {
    /// The error for a value that cannot be decoded; `what` was decoded, such as "The body of 12 bytes".
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
    static func text(_ path: [any CodingKey]) -> String {
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
