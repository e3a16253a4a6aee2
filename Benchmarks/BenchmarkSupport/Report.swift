import LoaderChainPlatformFoundation

/// The results of one run and the machine that they were measured on: the contents of a JSON file.
struct Report: Codable, Equatable {
    /// One row; values that do not apply, or are not available on this system, are left out.
    struct Row: Codable, Equatable {
        var name: String
        /// The median over the samples.
        var nsPerOp: Double
        /// The median distance from the median, relative to the median.
        var spread: Double
        var allocsPerOp: Double?
        var bytesPerSecond: Double?
        var peer: String?
        /// Our time divided by the peer's; below one, ours is faster.
        var ratio: Double?
    }

    var host: MeasuredHost
    var results: [Row]
}

extension Report.Row {
    init(_ benchmark: Benchmark, _ ours: Measurement, peer: Measurement?) {
        name = benchmark.name
        nsPerOp = Statistics.rounded(ours.nanoseconds, places: 3)
        spread = Statistics.rounded(ours.spread, places: 4)
        allocsPerOp = ours.allocations
        if let bytes = benchmark.bytes, ours.nanoseconds > 0 {
            bytesPerSecond = (Double(bytes) / ours.nanoseconds * 1e9).rounded()
        }
        if let peer {
            self.peer = benchmark.peer
            ratio = Statistics.ratio(ours.samples, to: peer.samples).map { Statistics.rounded($0, places: 4) }
        }
    }
}

extension Report {
    init(json: Data) throws {
        self = try JSONDecoder().decode(Report.self, from: json)
    }

    /// The file's contents, with sorted keys so that two files can be compared line by line.
    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self) + Data("\n".utf8)
    }
}
