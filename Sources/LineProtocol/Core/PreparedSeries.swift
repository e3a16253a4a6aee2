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
        /// What had to be repaired, without the defaults.
        let own: Repairs
        let repairs: Repairs
        /// The first problem that was met, which the strict methods throw.
        let firstError: LineEncodingError?

        init(_ core: borrowing LineCore) {
            var own = Repairs()
            for problem in core.noted { own[problem] += 1 }
            self.own = own
            // The core has counted those of the defaults.
            var all = core.repairs
            all += own
            repairs = all
            firstError = core.firstError
            bytes = core.isLost ? [] : core.bytes.withUnsafeBytes { Array($0) }
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

    /// The tags one by one, for lines that may have some of them themselves.
    var preparedTags: [LineCore.DefaultTag] {
        var rest = storage.bytes[...]
        rest = rest[EscapedText.firstIndex(of: UInt8(ascii: ","), in: rest)...]
        var result: [LineCore.DefaultTag] = []
        // Each tag begins with its comma.
        while !rest.isEmpty {
            let end = EscapedText.firstIndex(of: UInt8(ascii: ","), in: rest.dropFirst())
            let text = Array(rest[rest.startIndex..<end])
            let keyEnd = EscapedText.firstIndex(of: UInt8(ascii: "="), in: text.dropFirst())
            let isPlain = !text[1..<keyEnd].contains(UInt8(ascii: "\\"))
            let leading = (1..<9).reduce(0 as UInt64) { $0 << 8 | UInt64($1 < keyEnd ? text[$1] : 0) }
            result.append(.init(text: text, key: .init(start: 1, end: keyEnd, isPlain: isPlain, leading: leading)))
            rest = rest[end...]
        }
        return result
    }
}

extension PreparedSeries: CustomStringConvertible {
    /// What the lines of the series begin with.
    public var description: String { String(decoding: storage.bytes, as: UTF8.self) }
}
