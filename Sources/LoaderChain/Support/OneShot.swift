/// Something that may be had once, whichever thread asks first.
struct OneShot: Sendable {
    private let taken = Guarded(false)

    /// True for the first who asks, false for everyone after.
    func take() -> Bool {
        taken.withLock { taken in
            defer { taken = true }
            return !taken
        }
    }
}
