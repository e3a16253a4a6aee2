#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The demand that a body can be decoded, whatever as.
protocol ResponseDecoding: Sendable {
    /// The same for two that decode alike.
    var identity: DecodingIdentity { get }

    /// The error that a response deserves; nil if its body can be decoded.
    func verdict(on response: HTTPResponse) -> HTTPError?
}

/// What is decoded, and by whom.
struct DecodingIdentity: Hashable {
    let type: ObjectIdentifier
    let decoder: ObjectIdentifier?
}

/// Decodes bodies, and may keep the last value for whoever asks for it later.
///
/// The value is kept along with the response that it came from. So a body is decoded where it is checked and not again at
/// the end of the chain, and a response that was replaced on its way up is decoded for what it is.
final class BodyDecoding<Value: Decodable & Sendable>: ResponseDecoding {
    private let decoder: JSONDecoder?
    private let keepsValue: Bool
    private let kept = Guarded<Kept?>(nil)

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

    /// The value of a response's body, decoded now for the loader of that name.
    func decode(_ response: HTTPResponse, for loader: String? = nil) throws(HTTPError) -> Value {
        do {
            return try (decoder ?? JSONDecoder()).decode(Value.self, from: response.body)
        } catch {
            throw HTTPError(
                .cannotDecodeResponse, request: response.request, response: response, underlyingError: error,
                reason: "The body of \(response.body.count) bytes is no \(Value.self)", loader: loader)
        }
    }

    /// Gives away the value that was kept, if it came from such a response.
    func takeValue(for response: HTTPResponse) -> Value? {
        guard let kept = keep(nil), kept.status == response.status, kept.body == response.body else { return nil }
        return kept.value
    }

    /// Keeps a value, and returns the one kept before, which therefore ends outside the lock.
    @discardableResult
    private func keep(_ new: Kept?) -> Kept? {
        kept.withLock { exchange(&$0, with: new) }
    }
}
