import Dispatch

extension Duration {
    /// How long the tests of this package wait for what has to happen: so long that a slow machine under a sanitizer is no
    /// failure, and not for ever.
    package static var patient: Duration { .seconds(120) }
}

extension DispatchTime {
    /// The end of that time, for a thread that waits.
    package static var patient: DispatchTime { .now() + .seconds(120) }
}

/// Something that had to happen and did not.
package struct NeverHappened: Error, CustomStringConvertible {
    package let description: String
}

/// Waits until `condition` holds, which other threads are about to bring about; throws if that takes too long.
///
/// Where a thousand tests share a few threads, the time may be over before this has had a second look. So the end is reached
/// by time and by the number of looks, of which each gives everything else that waits for a thread a turn.
///
/// - Parameter what: what is waited for, as a sentence says it: "the box is empty".
package func eventually(
    _ what: String, within patience: Duration = .patient, isolation: isolated (any Actor)? = #isolation,
    _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + patience
    let fewestLooks = 1_000
    var looks = 0
    while try await !condition() {
        looks += 1
        if Task.isCancelled { throw NeverHappened(description: "Cancelled while waiting until \(what)") }
        if looks >= fewestLooks, ContinuousClock.now >= deadline {
            throw NeverHappened(description: "After \(patience), it is still not so that \(what)")
        }
        await Task.yield()
    }
}
