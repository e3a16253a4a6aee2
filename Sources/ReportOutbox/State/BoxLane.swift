/// What waits for one server, and whether it may be asked.
struct BoxLane {
    var waiting = DueHeap()
    var inFlight = 0
    /// Until when nothing is sent there, in the box's time.
    var pausedUntil = Int64.min
    /// How often in a row it was not reached.
    var misses = 0

    /// How many may be sent at once: a server that was not reached is tried with one alone.
    func room(_ most: Int) -> Int { (misses > 0 ? min(1, most) : most) - inFlight }
}
