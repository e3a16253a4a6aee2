/// What hears of the moves of adaptive limits: their throttle, and then the program.
final class LimitListener: @unchecked Sendable {
    // Set once, before any other thread knows this; the finders must not keep the throttle that keeps them.
    weak var throttle: Throttle?
    private let onChange: (@Sendable (AdaptiveLimit.Change) -> Void)?

    init(_ onChange: (@Sendable (AdaptiveLimit.Change) -> Void)?) { self.onChange = onChange }

    /// Called when a finder has moved its limit, under no lock.
    func hear(_ change: AdaptiveLimit.Change, of finder: LimitFinder) {
        throttle?.adopt(finder, raises: change.to > change.from)
        onChange?(change)
    }

    /// Has the throttle go by what a finder has found, without telling the program.
    func adopt(_ finder: LimitFinder) { throttle?.adopt(finder, raises: true) }

    /// Called when the limits of hosts were forgotten that were not used for long.
    func forget(_ origins: [HTTPOrigin]) { throttle?.forgetLimits(of: origins) }
}
