import Foundation
import InfluxReporting
import LoaderChain

/// Where the metrics of a run go, and what becomes of them.
struct MetricStores: Sendable {
    private let file: MetricFile?
    private let influx: InfluxStore?

    /// Opens what the arguments name; a file of `otherwise` if they name nothing.
    init(
        _ arguments: StoreArguments, otherwise path: String? = nil, surroundings: Surroundings
    ) throws(ProgramError) {
        influx = try arguments.database.map { database throws(ProgramError) in
            try InfluxStore(database, surroundings: surroundings)
        }
        let path = arguments.file ?? (influx == nil ? path : nil)
        file = try path.map { path throws(ProgramError) in try MetricFile(path: path) }
    }

    /// All of them as one.
    var sink: any MetricSink {
        let sinks: [(any MetricSink)?] = [file, influx?.writer]
        return SeveralSinks(sinks.compactMap(\.self))
    }

    /// What became of the metrics.
    struct Outcome: Sendable {
        /// A line for each place, and what is wrong.
        var lines: [String] = []
        var file: FileResult?
        var influx: InfluxResult?
        /// How many points are gone that a place should have.
        var losses = 0
        /// Whether somebody has to set something right before points arrive.
        var isRefused = false

        /// Whether the run failed to bring its metrics where they belong.
        var isFailure: Bool { losses > 0 || isRefused }
    }

    /// A file, as JSON has it.
    struct FileResult: Encodable, Sendable {
        var path: String
        var points: Int
        var pointsLost: Int
    }

    /// Brings everything to where it belongs.
    func finish(dropped: Int) async -> Outcome {
        var outcome = Outcome(losses: dropped)
        if let file {
            outcome.file = FileResult(path: file.path, points: file.points, pointsLost: file.losses)
            outcome.losses += file.losses
            outcome.lines.append(
                "\(NumberText.count(file.points, "point")) of metrics went to \(Plain.text(file.path))")
            if file.losses > 0 {
                outcome.lines.append("\(NumberText.count(file.losses, "point")) could not be kept; is the disk full?")
            }
        }
        if let influx {
            let result = await influx.finish()
            outcome.influx = result
            outcome.losses += result.rejected + result.dropped
            outcome.isRefused = result.isRefused
            outcome.lines += result.lines
        }
        if dropped > 0 {
            outcome.lines.append("\(NumberText.count(dropped, "point")) came faster than they could be written")
        }
        return outcome
    }
}

/// Several sinks as one, for a number of them that only the arguments know.
struct SeveralSinks: MetricSink {
    /// How many metrics may wait for a place that is slow.
    static let capacity = 100_000

    private let sinks: [any MetricSink]

    init(_ sinks: [any MetricSink]) { self.sinks = sinks }

    /// Where all of them are, they are.
    var isImmediate: Bool { sinks.allSatisfy(\.isImmediate) }

    func record(_ record: MetricRecord) {
        for sink in sinks { sink.record(record) }
    }
}
