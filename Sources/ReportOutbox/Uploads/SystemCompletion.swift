/// What the system is to be told once everything that happened while the app did not run has been heard.
///
/// The system gives a closure that belongs to the main thread, and may be no `Sendable` one; so it never leaves the main actor.
@MainActor
final class SystemCompletion {
    private var handlers: [() -> Void] = []

    nonisolated init() {}

    func add(_ handler: @escaping () -> Void) { handlers.append(handler) }

    func callAll() {
        let called = handlers
        handlers = []
        for handler in called { handler() }
    }
}
