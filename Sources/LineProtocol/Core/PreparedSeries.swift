/// A measurement and tags that are already escaped and sorted, for the beginning of lines.
///
/// ```swift
/// let series = PreparedSeries("APIHealth", tags: ["status": "200", "host": "api-1"])
/// print(series)  // APIHealth,host=api-1,status=200
/// ```
public struct PreparedSeries: Sendable {
    /// A class, so that copying a series is cheap.
    final class Storage: Sendable {
        /// The text that the lines begin with; empty if nothing can be written.
        let bytes: [UInt8]
        /// The problems that are repaired in each line, without those of the defaults.
        let problems: [LineProblem]
        let repairs: Repairs

        init(_ core: borrowing LineCore) {
            bytes = core.isLost ? [] : core.bytes.withUnsafeBytes { Array($0) }
            problems = core.noted
            // The core has already counted the problems of the defaults.
            var repairs = core.repairs
            for problem in problems { repairs[problem] += 1 }
            self.repairs = repairs
        }
    }

    let storage: Storage

    /// The repairs of the series; every line counts them again, except those of the defaults.
    public var repairs: Repairs { storage.repairs }

    /// Prepares a measurement with tags.
    ///
    /// - Parameters:
    ///   - measurement: The name of the measurement.
    ///   - tags: The tags of the series.
    ///   - defaults: Default tags, which `tags` with the same key override.
    public init(_ measurement: String, tags: Tags = [:], defaults: Tags = [:]) {
        var core = LineCore(capacity: 256, dialect: .portable)
        core.setDefaults(defaults)
        core.beginLine(measurement: measurement)
        core.write(tags)
        core.endTags()
        storage = Storage(core)
    }
}

extension PreparedSeries: CustomStringConvertible {
    /// The text that the lines of the series begin with.
    public var description: String { String(decoding: storage.bytes, as: UTF8.self) }
}
