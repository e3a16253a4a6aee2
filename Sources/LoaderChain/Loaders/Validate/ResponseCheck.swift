#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a response must be like to count as one.
///
/// A request carries its check, and ``Validate`` applies it inside the chain:
///
/// ```swift
/// var request = HTTPRequest(path: "people")
/// request.responseCheck = .statuses(200, 404).and(.contentTypes("application/json"))
/// ```
///
/// A response that does not pass becomes an ``HTTPError/Code/invalidResponse``, or an
/// ``HTTPError/Code/cannotDecodeResponse``, that carries it.
///
/// Two checks are equal if they demand the same in the same order. A closure is equal to itself alone.
public struct ResponseCheck: Hashable, Sendable {
    let rules: [ResponseRule]
}

extension ResponseCheck {
    /// Demands nothing.
    public static let nothing = ResponseCheck(rules: [])

    /// Demands a status from 200 to 299.
    public static let success = statuses(in: 200...299)

    /// Demands one of these statuses.
    public static func statuses(_ accepted: HTTPStatus...) -> ResponseCheck {
        ResponseCheck(rules: [.statuses(accepted.map { $0.rawValue...$0.rawValue })])
    }

    /// Demands a status of a range.
    public static func statuses(in accepted: ClosedRange<Int>) -> ResponseCheck {
        ResponseCheck(rules: [.statuses([accepted])])
    }

    /// Demands that the body, if there is one, is of one of these media types.
    ///
    /// Parameters, such as a `charset`, make no difference. `image/*` accepts every image.
    public static func contentTypes(_ accepted: String...) -> ResponseCheck {
        ResponseCheck(rules: [.contentTypes(accepted)])
    }

    /// Demands that the body can be decoded from JSON as `type`.
    ///
    /// ``HTTPLoader/load(_:as:decoder:)`` does so by itself, and decodes once.
    public static func decoding<Value: Decodable & Sendable>(
        _ type: Value.Type, decoder: JSONDecoder? = nil
    ) -> ResponseCheck {
        ResponseCheck(rules: [.decoding(BodyDecoding<Value>(decoder: decoder, keepsValue: false))])
    }

    /// Demands that `check` does not throw.
    ///
    /// A thrown ``HTTPError`` is the result as it is, with the response added to it; any other lies beneath an
    /// ``HTTPError/Code/invalidResponse``.
    public static func custom(_ check: @escaping @Sendable (HTTPResponse) throws -> Void) -> ResponseCheck {
        ResponseCheck(rules: [.closure(ResponseRule.Closure(check))])
    }

    /// Demands this, and then `other`.
    public func and(_ other: ResponseCheck) -> ResponseCheck {
        ResponseCheck(rules: rules + other.rules)
    }
}

extension ResponseCheck: HTTPRequestOption {
    /// None: what ``Validate`` demands of all is demanded.
    public static var defaultOptionValue: ResponseCheck? { nil }
}

extension HTTPRequest {
    /// What the response must be like, in the place of what ``Validate`` demands of all; nil for that.
    public var responseCheck: ResponseCheck? {
        get { self[option: ResponseCheck.self] }
        set { self[option: ResponseCheck.self] = newValue }
    }

    /// What is demanded besides, because the caller awaits a decoded value.
    var decodingCheck: ResponseCheck? {
        get { self[option: DecodingCheck.self] }
        set { self[option: DecodingCheck.self] = newValue }
    }

    private enum DecodingCheck: HTTPRequestOption {
        static var defaultOptionValue: ResponseCheck? { nil }
    }
}
