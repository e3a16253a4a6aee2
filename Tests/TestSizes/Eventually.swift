import Dispatch

extension Duration {
    /// How long the tests of this package wait for an event: long enough for a slow machine under a sanitizer, but not forever.
    package static var patient: Duration { .seconds(120) }
}

extension DispatchTime {
    /// The same limit, for a thread that waits.
    package static var patient: DispatchTime { .now() + .seconds(120) }
}

private struct NeverHappened: Error, CustomStringConvertible {
    let description: String
}

/// Waits until `condition` holds, which other threads are about to bring about; throws if that takes too long.
///
/// When a thousand tests share a few threads, the time may be over before this task runs a second time. So it gives up only
/// after both a time and a number of looks, each of which lets other waiting tasks run.
///
/// - Parameter what: the condition, as a clause: "the box is empty".
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
            throw NeverHappened(description: "Still waiting after \(patience) until \(what)")
        }
        await Task.yield()
    }
}
