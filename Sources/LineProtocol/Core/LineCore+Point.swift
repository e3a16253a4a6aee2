/// A whole point at once.
extension LineCore {
    mutating func write(_ point: borrowing Point, _ precision: Precision) -> Bool {
        point.measurement.withBytes { beginLine(measurement: $0) }
        write(point.tags)
        endTags()
        write(point.fields)
        return endLine(point.timestamp, precision)
    }

    @inline(__always)
    mutating func write(_ tags: Tags) {
        tags.elements.withUnsafeBufferPointer { tags in
            for index in tags.indices {
                tags[index].key.withBytes { key in
                    tags[index].value.withBytes { value in writeTag(key, value) }
                }
            }
        }
    }

    @inline(__always)
    private mutating func write(_ fields: Fields) {
        fields.elements.withUnsafeBufferPointer { fields in
            for index in fields.indices {
                fields[index].key.withBytes { key in write(key, fields[index].value) }
            }
        }
    }

    @inline(__always)
    private mutating func write(_ key: UnsafeBufferPointer<UInt8>, _ value: FieldValue) {
        switch value {
        case .double(let number): writeField(key, number)
        case .float(let number): writeField(key, number)
        case .integer(let number): writeField(key, number)
        case .unsigned(let number): writeField(key, number)
        case .boolean(let flag): writeField(key, flag)
        case .string(let text): text.withBytes { writeField(key, $0) }
        }
    }

    /// Keeps the tags that every line gets, each ready to be copied.
    mutating func setDefaults(_ tags: Tags) {
        guard !tags.isEmpty else { return }
        defaults = PreparedSeries.defaults(tags)
    }
}
