/// A sum over the recent past, kept in slices.
///
/// A slice is forgotten as a whole, so the window covers between nine and ten slices. Its cost does not depend on how much is added.
struct SlidingWindow<Count: AdditiveArithmetic> {
    /// The sum over the window, as of the last ``move(to:)``.
    private(set) var sum = Count.zero
    private var slices = [Count](repeating: .zero, count: sliceCount)
    private var present: Int64?
    /// The end of the present slice, so that a step within it needs no division.
    private var presentEnd = Int64.min
    private var presentPosition = 0
    private let sliceLength: Int64

    private static var sliceCount: Int { 10 }

    init(_ length: Duration) {
        sliceLength = max(1, length.saturatedNanoseconds / Int64(Self.sliceCount))
    }

    /// Forgets what is out of the window at `now`; an instant before the last one counts as the last one.
    mutating func move(to now: TimerInstant) {
        if now.nanoseconds < presentEnd { return }
        let slice = number(of: now)
        let before = replace(&present, with: slice)
        presentEnd = Int64(clamping: (Int128(slice) + 1) * Int128(sliceLength))
        presentPosition = position(of: slice)
        guard let before, slice > before else { return }
        let (passed, isOverflow) = slice.subtractingReportingOverflow(before)
        guard !isOverflow, passed < Self.sliceCount else { return forgetAll() }
        for step in 1...passed {
            let position = position(of: before + step)
            sum -= slices[position]
            slices[position] = .zero
        }
    }

    /// Adds to the slice of the instant last moved to.
    mutating func add(_ count: Count) {
        slices[presentPosition] += count
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

/// The usual duration of a kind of work, learned from recent durations.
///
/// The estimate is the smoothed mean and twice the smoothed deviation from it, as TCP estimates how long to wait for an answer
/// (RFC 6298). It takes constant memory, follows a change within some ten samples, and little work of usual duration takes
/// longer.
package struct UsualTime {
    /// In nanoseconds.
    private var mean = 0.0
    private var deviation = 0.0
    private var samples = 0

    /// The first samples may include the making of connections.
    static let fewestSamples = 8
    /// Some three years, which leaves a margin for calculations.
    private static let longest = 1e17
    private static let weightOfMean = 1.0 / 8
    private static let weightOfDeviation = 1.0 / 4

    package init() {}

    /// The time that most of the work does not exceed; nil while too little is known.
    package var estimate: Duration? {
        samples < Self.fewestSamples ? nil : .nanoseconds(Int64(mean + 2 * deviation))
    }

    package mutating func learn(_ time: Duration) {
        let time = min(max(0, Double(time.saturatedNanoseconds)), Self.longest)
        if samples == 0 {
            (mean, deviation) = (time, time / 2)
        } else {
            deviation += (abs(time - mean) - deviation) * Self.weightOfDeviation
            mean += (time - mean) * Self.weightOfMean
        }
        samples = min(samples + 1, Self.fewestSamples)
    }

    /// Learns that a piece of work was ended before it was done; returns whether that said something.
    ///
    /// It says nothing if the work might have been done in time. Otherwise that would have taken even longer.
    @discardableResult
    package mutating func learn(unfinishedAfter time: Duration) -> Bool {
        // Before there is an estimate, the mean of what is known stands for it.
        if time < estimate ?? .nanoseconds(Int64(mean)) { return false }
        learn(time)
        return true
    }
}
