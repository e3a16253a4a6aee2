import LoaderChain
import LoaderChainPlatformFoundation

@testable import MetricKitReporting

extension MetricPayload {
    init(_ text: String) throws { try self.init(Data(text.utf8)) }
}

extension DiagnosticPayload {
    init(_ text: String) throws { try self.init(Data(text.utf8)) }
}

/// A number with the given number of decimals, like the known values.
func rounded(_ time: Duration?, _ digits: Int) -> Double? {
    guard let time else { return nil }
    let power = (0..<digits).reduce(1.0) { power, _ in power * 10 }
    return (time.histogramNumber * 1_000 * power).rounded() / power
}

extension Histogram<Duration> {
    /// Buckets in milliseconds.
    init(milliseconds buckets: [(Int, Int, Int)]) {
        self.init(
            buckets.map { Bucket(start: .milliseconds($0.0), end: .milliseconds($0.1), count: $0.2) })
    }
}

enum Known {
    static let firstDraw = Histogram(milliseconds: [(1000, 1010, 50), (2000, 2010, 60), (3000, 3010, 30)])
    static let hangTime = Histogram(milliseconds: [(0, 100, 50), (100, 400, 60), (400, 700, 30)])
    static let resume = Histogram(milliseconds: [(200, 210, 60), (300, 310, 70), (500, 510, 80)])
}
