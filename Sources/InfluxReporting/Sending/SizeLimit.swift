/// How large a request may be, as far as a server's refusals tell.
///
/// A limit can be raised, and one that was learnt by mistake must not make a request of each line for ever. So after some
/// requests that were taken it doubles, and each time that turns out to be too much, it waits for four times as many.
package struct SizeLimit: Sendable, Hashable {
    /// A size that was refused; nil for none.
    package private(set) var refused: Int?
    /// How many requests in a row were taken since it was set.
    private var taken = 0
    /// After how many of them it doubles.
    private var patience = leastPatience
    /// Whether it has been doubled since the last refusal.
    private var isTrial = false

    private static let leastPatience = 32
    private static let greatestPatience = 8_192

    package init() {}

    /// Whether so many bytes are likely to be too much.
    package func excludes(_ size: Int) -> Bool { refused.map { size >= $0 } ?? false }

    /// Notes that a request was taken.
    package mutating func noteTaken() {
        guard let refused else { return }
        taken += 1
        guard taken >= patience else { return }
        let (double, isTooLarge) = refused.multipliedReportingOverflow(by: 2)
        self.refused = isTooLarge ? nil : double
        taken = 0
        isTrial = true
    }

    /// Notes that a size was refused, where another one was taken not long ago.
    package mutating func noteRefused(_ size: Int, largestTaken: Int?) {
        if isTrial { patience = min(patience * 4, Self.greatestPatience) }
        // What was taken before cannot have been too large.
        refused = max(min(refused ?? .max, size), (largestTaken ?? 0) + 1)
        taken = 0
        isTrial = false
    }
}
