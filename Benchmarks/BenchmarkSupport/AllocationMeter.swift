/// Counts the allocations made while a closure runs; the program supplies it, since counting replaces `malloc`.
package struct AllocationMeter {
    private let start: () -> Void
    private let stop: () -> Int

    /// Makes a meter from a closure that starts counting at zero, and one that stops and returns the count.
    package init(start: @escaping () -> Void, stop: @escaping () -> Int) {
        self.start = start
        self.stop = stop
    }

    func count(_ body: () -> Void) -> Int {
        start()
        body()
        return stop()
    }
}
