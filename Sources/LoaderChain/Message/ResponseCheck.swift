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
    /// The check of the response, which replaces the check of ``Validate``; nil to use that of ``Validate``.
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

extension ResponseCheck {
    /// The error for a response; nil if it passes.
    func verdict(on response: HTTPResponse, by loader: String) -> HTTPError? {
        for rule in rules {
            guard var error = rule.verdict(on: response) else { continue }
            error.response = error.response ?? response
            error.loader = error.loader ?? loader
            return error
        }
        return nil
    }
}

enum ResponseRule: Sendable {
    case statuses([ClosedRange<Int>])
    case contentTypes([String])
    case decoding(any ResponseDecoding)
    case closure(Closure)

    /// A user's closure, which is compared by identity.
    final class Closure: Sendable {
        let check: @Sendable (HTTPResponse) throws -> Void
        init(_ check: @escaping @Sendable (HTTPResponse) throws -> Void) { self.check = check }
    }
}

extension ResponseRule {
    fileprivate func verdict(on response: HTTPResponse) -> HTTPError? {
        switch self {
        case .statuses(let accepted):
            if accepted.contains(where: { $0.contains(response.status.rawValue) }) { return nil }
            return invalid(response, "Its status should be \(Self.list(accepted.map(Self.text)))")
        case .contentTypes(let accepted):
            return verdict(on: response, contentTypes: accepted)
        case .decoding(let decoding):
            return decoding.verdict(on: response)
        case .closure(let closure):
            do {
                try closure.check(response)
                return nil
            } catch let error as HTTPError {
                return error
            } catch {
                return invalid(response, "It does not pass its check", error)
            }
        }
    }

    private func verdict(on response: HTTPResponse, contentTypes accepted: [String]) -> HTTPError? {
        if response.hasNoBody { return nil }
        guard let found = response.mediaType else {
            return invalid(response, "It has no content type; it should be \(Self.list(accepted))")
        }
        if accepted.contains(where: { Self.matches(found, $0) }) { return nil }
        return invalid(response, "Its content type is \(ASCII.printable(found)); it should be \(Self.list(accepted))")
    }

    private static func matches(_ mediaType: String, _ accepted: String) -> Bool {
        guard accepted.hasSuffix("/*") else { return ASCII.isEqualIgnoringCase(mediaType, accepted) }
        let kind = accepted.dropLast()
        return ASCII.isEqualIgnoringCase(String(mediaType.prefix(kind.count)), String(kind))
    }

    private func invalid(_ response: HTTPResponse, _ reason: String, _ error: (any Error)? = nil) -> HTTPError {
        HTTPError(.invalidResponse, request: response.request, underlyingError: error, reason: reason)
    }

    private static func text(_ range: ClosedRange<Int>) -> String {
        range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
    }

    private static func list(_ texts: [String]) -> String { texts.joined(separator: " or ") }
}

extension HTTPResponse {
    /// Whether there is no body whose type could be checked.
    fileprivate var hasNoBody: Bool {
        if file == nil, chunks == nil { return body.isEmpty }
        // Whether anything comes in chunks is not known yet.
        return request.method == .head || [.noContent, .resetContent, .notModified].contains(status)
            || headers["Content-Length"] == "0"
    }
}

extension ResponseRule: Hashable {
    static func == (left: ResponseRule, right: ResponseRule) -> Bool {
        switch (left, right) {
        case (.statuses(let left), .statuses(let right)): left == right
        case (.contentTypes(let left), .contentTypes(let right)): left == right
        case (.decoding(let left), .decoding(let right)): left.identity == right.identity
        case (.closure(let left), .closure(let right)): left === right
        default: false
        }
    }

    func hash(into hasher: inout Hasher) {
        switch self {
        case .statuses(let accepted): hasher.combine(accepted)
        case .contentTypes(let accepted): hasher.combine(accepted)
        case .decoding(let decoding): hasher.combine(decoding.identity)
        case .closure(let closure): hasher.combine(ObjectIdentifier(closure))
        }
    }
}
