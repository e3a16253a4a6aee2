/// A measurement and tags, escaped and in order, ready to begin lines.
///
/// ```swift
/// let series = PreparedSeries("APIHealth", tags: ["status": "200", "host": "api-1"])
/// print(series)  // APIHealth,host=api-1,status=200
/// ```
public struct PreparedSeries: Sendable {
    /// One object, so that handing a series on is cheap.
    final class Storage: Sendable {
        /// The text that the lines begin with; empty if nothing can be written.
        let bytes: [UInt8]
        /// What had to be repaired in each line, without the defaults.
        let problems: [LineProblem]
        /// The first of them, which the strict methods throw.
        let firstError: LineEncodingError?
        let repairs: Repairs

        init(_ core: borrowing LineCore) {
            bytes = core.isLost ? [] : core.bytes.withUnsafeBytes { Array($0) }
            problems = core.noted
            firstError = core.firstError
            // The core has counted those of the defaults.
            var repairs = core.repairs
            for problem in problems { repairs[problem] += 1 }
            self.repairs = repairs
        }
    }

    let storage: Storage

    /// What had to be repaired; every line of the series counts it again, except for that of the defaults.
    public var repairs: Repairs { storage.repairs }

    /// Prepares a measurement with tags.
    ///
    /// - Parameters:
    ///   - measurement: What is measured.
    ///   - tags: The tags of the series.
    ///   - defaults: Default tags, which `tags` with the same key override.
    public init(_ measurement: String, tags: Tags = [:], defaults: Tags = [:]) {
        var core = LineCore(capacity: 256, dialect: .portable)
        core.setDefaults(defaults)
        core.isStrict = true
        core.beginLine(measurement: measurement)
        core.write(tags)
        core.endTags()
        storage = Storage(core)
    }
}

extension PreparedSeries: CustomStringConvertible {
    /// What the lines of the series begin with.
    public var description: String { String(decoding: storage.bytes, as: UTF8.self) }
}
