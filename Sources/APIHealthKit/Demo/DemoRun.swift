import LoaderChain

/// How far a run of the demo has got.
struct DemoRun: Sendable {
    let address: String
    let duration: Duration
    var elapsed: Duration = .zero
    /// How many requests were started.
    var started = 0
    /// How many of them lacked a host.
    var environmentCount = 0
    /// How many were cancelled at the end.
    var cancelled = 0
    var isReset = false
    /// How many requests had ended at the end of each half second.
    private var ended: [Int] = []

    init(address: String, duration: Duration) {
        self.address = address
        self.duration = duration
    }

    /// How many half seconds are shown.
    private static var shown: Int { 24 }

    /// How many requests ended in each of the last half seconds.
    var pace: [Int] {
        zip(ended, ended.dropFirst()).map { $1 - $0 }.suffix(Self.shown)
    }

    /// Notes how many have ended by now.
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
