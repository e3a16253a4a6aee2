import LoaderChainPlatformFoundation

/// A check that a body can be decoded, without the type.
protocol ResponseDecoding: Sendable {
    /// Equal for two checks that decode in the same way.
    var identity: DecodingIdentity { get }

    /// The error for a response; nil if its body can be decoded.
    func verdict(on response: HTTPResponse) -> HTTPError?
}

/// The type that is decoded, and the decoder.
struct DecodingIdentity: Hashable {
    let type: ObjectIdentifier
    let decoder: ObjectIdentifier?
}

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
