/// A right that only the first caller gets.
struct OneShot: Sendable {
    private let taken = Locked(false)

    /// True for the first call, false for all later ones.
    func take() -> Bool {
        taken.withLock { taken in
            defer { taken = true }
            return !taken
        }
    }
}
