/// Whether a ``Hedge`` may send a request a second time while the first attempt is under way.
///
/// ```swift
/// request.hedging = .never
/// ```
public enum HedgingOption: HTTPRequestOption {
    /// The request may be hedged if its method is safe, as GET and HEAD are, and its options allow two attempts at once;
    /// see ``HTTPRequestOption/allowsTwoAttempts(with:)``.
    case automatic
    /// The request may be hedged whatever its method and its options, if it may be repeated according to
    /// ``HTTPRequest/isRepeatable``.
    ///
    /// Choose it for a PUT, or for a POST with an idempotency key, that the server may receive twice at the same time.
    case allowed
    /// The request is not hedged.
    case never

    /// The method decides.
    public static var defaultOptionValue: HedgingOption { .automatic }
}

extension HTTPRequest {
    /// Whether a ``Hedge`` may send the request a second time; ``HedgingOption/automatic`` unless it is set.
    public var hedging: HedgingOption {
        get { self[option: HedgingOption.self] }
        set { self[option: HedgingOption.self] = newValue }
    }

    /// Whether two attempts of the request, as it is now, may be under way at once.
    ///
    /// Its ``hedging``, its method, its body and its options decide.
    public var isHedgeable: Bool {
        switch hedging {
        case .never: return false
        case .automatic: guard method.isSafe, storage.options.allowTwoAttempts else { return false }
        case .allowed: break
        }
        return isRepeatable && body.canBeSentAgain
    }
}
