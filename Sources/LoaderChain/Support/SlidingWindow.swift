/// What happened in the last while, added up by slices of it.
///
/// A slice is forgotten as a whole, so that the window is between nine and ten of its slices long; what it costs does not
/// depend on how much happens.
struct SlidingWindow<Count: AdditiveArithmetic> {
    /// What happened in the window, as of the last ``move(to:)``.
    private(set) var sum = Count.zero
    private var slices = [Count](repeating: .zero, count: sliceCount)
    private var present: Int64?
    private let sliceLength: Int64

    static var sliceCount: Int { 10 }

    /// Makes an empty window of that length.
    init(_ length: Duration) {
        sliceLength = max(1, length.saturatedNanoseconds / Int64(Self.sliceCount))
    }

    /// Forgets what is too long ago at `now`; an earlier instant than the last one counts as the last one.
    mutating func move(to now: TimerInstant) {
        let slice = number(of: now)
        guard let before = present else {
            present = slice
            return
        }
        guard slice > before else { return }
        present = slice
        let (passed, isOverflow) = slice.subtractingReportingOverflow(before)
        guard !isOverflow, passed < Self.sliceCount else { return forgetAll() }
        for step in 1...passed {
            let position = position(of: before + step)
            sum -= slices[position]
            slices[position] = .zero
        }
    }

    /// Adds to what happens at the instant last moved to.
    mutating func add(_ count: Count) {
        slices[position(of: present ?? 0)] += count
        sum += count
    }

    private mutating func forgetAll() {
        for position in slices.indices { slices[position] = .zero }
        sum = .zero
    }

    /// The number of the slice that an instant lies in, also before the clock's start.
    private func number(of instant: TimerInstant) -> Int64 {
        let (slice, rest) = instant.nanoseconds.quotientAndRemainder(dividingBy: sliceLength)
        return rest < 0 ? slice - 1 : slice
    }

    private func position(of slice: Int64) -> Int {
        let rest = Int(slice % Int64(Self.sliceCount))
        return rest < 0 ? rest + Self.sliceCount : rest
    }
}
