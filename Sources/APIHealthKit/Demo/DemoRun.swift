import LoaderChain

/// The progress of a run of the demo.
struct DemoRun: Sendable {
    let address: String
    let duration: Duration
    var elapsed: Duration = .zero
    var started = 0
    /// How many requests had no host of their own.
    var environmentCount = 0
    /// How many requests the final reset cancelled.
    var cancelled = 0
    var isReset = false
    /// The number of ended requests at the end of each half second.
    private var ended: [Int] = []

    init(address: String, duration: Duration) {
        self.address = address
        self.duration = duration
    }

    private static var shown: Int { 24 }

    /// The number of requests that ended in each of the last half seconds.
    var pace: [Int] {
        zip(ended, ended.dropFirst()).map { $1 - $0 }.suffix(Self.shown)
    }

    mutating func note(elapsed: Duration, ended count: Int) {
        self.elapsed = elapsed
        let halves = Int(elapsed / .milliseconds(500))
        while ended.count <= halves, ended.count < 8_000 { ended.append(count) }
    }

    mutating func start(_ call: DemoTraffic.Call) {
        started += 1
        if call.endpoint.host == nil { environmentCount += 1 }
    }
}
