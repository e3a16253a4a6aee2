import Foundation
import InfluxReporting
import LoaderChain

/// The stores that the metrics of a run go to.
struct MetricStores: Sendable {
    private let file: MetricFile?
    private let influx: InfluxStore?

    /// Opens the stores that the arguments name, or a file at `otherwise` if they name none.
    init(
        _ arguments: StoreArguments, otherwise path: String? = nil, surroundings: Surroundings
    ) throws(ProgramError) {
        influx = try arguments.database.map { database throws(ProgramError) in
            try InfluxStore(database, surroundings: surroundings)
        }
        let path = arguments.file ?? (influx == nil ? path : nil)
        file = try path.map { path throws(ProgramError) in try MetricFile(path: path) }
    }

    var sink: any MetricSink {
        let sinks: [(any MetricSink)?] = [file, influx?.writer]
        return SeveralSinks(sinks.compactMap(\.self))
    }

    struct Outcome: Sendable {
        /// A line for each store and each problem.
        var lines: [String] = []
        var file: FileResult?
        var influx: InfluxResult?
        /// How many points are lost.
        var losses = 0
        /// Whether a store refuses points until something is changed.
        var isRefused = false

        var isFailure: Bool { losses > 0 || isRefused }
    }

    /// What became of the points for a file; also its JSON form.
    struct FileResult: Encodable, Sendable {
        var path: String
        var points: Int
        var pointsLost: Int
    }

    /// Writes everything that is still buffered, and closes the stores.
    func finish(dropped: Int) async -> Outcome {
        var outcome = Outcome(losses: dropped)
        if let file {
            outcome.file = FileResult(path: file.path, points: file.points, pointsLost: file.losses)
            outcome.losses += file.losses
            outcome.lines.append(
                "\(NumberText.count(file.points, "point")) of metrics went to \(Plain.text(file.path))")
            if file.losses > 0 {
                outcome.lines.append(
                    "\(NumberText.count(file.losses, "point")) could not be written; is the disk full?")
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
            outcome.lines.append("\(NumberText.count(dropped, "point")) could not be written fast enough")
        }
        return outcome
    }
}

/// Several sinks as one; how many there are depends on the arguments.
struct SeveralSinks: MetricSink {
    /// How many metrics may wait for a slow store.
    static let capacity = 100_000

    private let sinks: [any MetricSink]

    init(_ sinks: [any MetricSink]) { self.sinks = sinks }

    /// Immediate if all of its sinks are.
    var isImmediate: Bool { sinks.allSatisfy(\.isImmediate) }

    func record(_ record: MetricRecord) {
        for sink in sinks { sink.record(record) }
    }
}
