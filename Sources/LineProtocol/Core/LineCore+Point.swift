/// A whole point at once.
extension LineCore {
    mutating func write(_ point: borrowing Point, _ precision: Precision) -> Bool {
        beginLine(measurement: point.measurement)
        write(point.tags)
        endTags()
        write(point.fields)
        return endLine(point.timestamp, precision)
    }

    @inline(__always)
    mutating func write(_ tags: Tags) {
        for tag in tags.elements { writeTag(tag.key, tag.value) }
    }

    @inline(__always)
    private mutating func write(_ fields: Fields) {
        for field in fields.elements { write(field.key, field.value) }
    }

    @inline(__always)
    private mutating func write(_ key: String, _ value: FieldValue) {
        switch value {
        case .double(let number): writeField(key, number)
        case .float(let number): writeField(key, number)
        case .integer(let number): writeField(key, number)
        case .unsigned(let number): writeField(key, number)
        case .boolean(let flag): writeField(key, flag)
        case .string(let text): writeField(key, text)
        }
    }

    /// Keeps the tags that every line gets, each ready to be copied.
    mutating func setDefaults(_ tags: Tags) {
        guard !tags.isEmpty else { return }
        // The letter stands for the measurement.
        let series = PreparedSeries("m", tags: tags)
        defaults = series.preparedTags
        repairs += series.repairs
    }
}
