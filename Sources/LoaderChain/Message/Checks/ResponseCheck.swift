import LoaderChainPlatformFoundation

/// The requirements that a response must meet.
///
/// A request carries its check, and ``Validate`` applies it inside the chain:
///
/// ```swift
/// var request = HTTPRequest(path: "people")
/// request.responseCheck = .statuses(200, 404).and(.contentTypes("application/json"))
/// ```
///
/// A response that does not pass becomes an ``HTTPError/Code/invalidResponse`` or an
/// ``HTTPError/Code/cannotDecodeResponse`` that has the response.
///
/// Two checks are equal if they have the same requirements in the same order. A closure is equal only to itself.
public struct ResponseCheck: Hashable, Sendable {
    let rules: [ResponseRule]
}

extension ResponseCheck {
    /// Requires nothing.
    public static let nothing = ResponseCheck(rules: [])

    /// Requires a status from 200 to 299.
    public static let success = statuses(in: 200...299)

    /// Requires one of these statuses.
    public static func statuses(_ accepted: HTTPStatus...) -> ResponseCheck {
        ResponseCheck(rules: [.statuses(accepted.map { $0.rawValue...$0.rawValue })])
    }

    /// Requires a status in a range.
    public static func statuses(in accepted: ClosedRange<Int>) -> ResponseCheck {
        ResponseCheck(rules: [.statuses([accepted])])
    }

    /// Requires that the body, if there is one, has one of these media types.
    ///
    /// Parameters such as a `charset` are ignored. `image/*` accepts every image type.
    public static func contentTypes(_ accepted: String...) -> ResponseCheck {
        ResponseCheck(rules: [.contentTypes(accepted)])
    }

    /// Requires that the body can be decoded from JSON as `type`.
    ///
    /// ``HTTPLoader/load(_:as:decoder:)`` adds this itself, and decodes once.
    public static func decoding<Value: Decodable & Sendable>(
        _ type: Value.Type, decoder: JSONDecoder? = nil
    ) -> ResponseCheck {
        ResponseCheck(rules: [.decoding(BodyDecoding<Value>(decoder: decoder, keepsValue: false))])
    }

    /// Requires that `check` does not throw.
    ///
    /// A thrown ``HTTPError`` becomes the result, with the response added; any other error becomes the underlying error
    /// of an ``HTTPError/Code/invalidResponse``.
    public static func custom(_ check: @escaping @Sendable (HTTPResponse) throws -> Void) -> ResponseCheck {
        ResponseCheck(rules: [.closure(ResponseRule.Closure(check))])
    }

    /// Requires this, and then `other`.
    public func and(_ other: ResponseCheck) -> ResponseCheck {
        ResponseCheck(rules: rules + other.rules)
    }
}

extension ResponseCheck: HTTPRequestOption {
    /// None: the check of ``Validate`` applies.
    public static var defaultOptionValue: ResponseCheck? { nil }
}

extension HTTPRequest {
    /// The check of the response, which replaces the one of ``Validate``; nil to use that one.
    public var responseCheck: ResponseCheck? {
        get { self[option: ResponseCheck.self] }
        set { self[option: ResponseCheck.self] = newValue }
    }

    /// The check that is added because the caller awaits a decoded value.
    var decodingCheck: ResponseCheck? {
        get { self[option: DecodingCheck.self] }
        set { self[option: DecodingCheck.self] = newValue }
    }

    private enum DecodingCheck: HTTPRequestOption {
        static var defaultOptionValue: ResponseCheck? { nil }
    }
}
