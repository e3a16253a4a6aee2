import LineProtocol

/// A second, simple implementation of the policy: a point after encoding and decoding, with its problems.
struct NaiveRepair {
    let dialect: LineDialect
    let precision: Precision
    var problems: [LineProblem] = []

    init(_ dialect: LineDialect = .portable, _ precision: Precision = .nanoseconds) {
        self.dialect = dialect
        self.precision = precision
    }

    mutating func repaired(_ point: Point, defaults: Tags = [:]) -> Point? {
        problems = []
        if point.measurement.isEmpty { problems.append(.emptyMeasurement) }
        let measurement = name(point.measurement, isMeasurement: true)
        let tags = tags(point.tags, defaults)
        let fields = fields(point.fields)
        let timestamp = point.timestamp.map { time($0) }
        if fields.isEmpty, !point.measurement.isEmpty { problems.append(.noFields) }
        guard !fields.isEmpty, !measurement.isEmpty else { return nil }
        return Point(measurement, tags: tags, fields: fields, timestamp: timestamp)
    }

    private mutating func tags(_ own: Tags, _ defaults: Tags) -> Tags {
        var result = Tags()
        var unused = NaiveRepair()
        for tag in defaults where !tag.key.isEmpty && !tag.value.isEmpty {
            result[unused.key(tag.key)] = unused.name(tag.value)
        }
        var taken: Set<[UInt8]> = []
        for tag in own {
            if tag.key.isEmpty {
                problems.append(.emptyTagKey)
            } else if tag.value.isEmpty {
                problems.append(.emptyTagValue)
            } else {
                let key = key(tag.key)
                if !taken.insert(Array(key.utf8)).inserted { problems.append(.duplicateTag) }
                result[key] = name(tag.value)
            }
        }
        return result
    }

    private mutating func fields(_ fields: Fields) -> Fields {
        var result = Fields()
        for field in fields {
            let before = problems
            let value = value(field.value)
            if field.key.isEmpty {
                // A number is checked before the key, a string after it.
                if value != nil { problems = before + [.emptyFieldKey] }
            } else if let value {
                result[key(field.key)] = value
            }
        }
        return result
    }

    private mutating func value(_ value: FieldValue) -> FieldValue? {
        switch value {
        case .double(let number):
            if number.isFinite { return value }
            problems.append(.notFinite)
            return nil
        case .float(let number):
            if number.isFinite { return Double(number.description).map { .double($0) } }
            problems.append(.notFinite)
            return nil
        case .unsigned(let number):
            if dialect.writesUnsigned { return value }
            if let signed = Int64(exactly: number) { return .integer(signed) }
            problems.append(.unsignedOverflow)
            return nil
        case .string(let text):
            guard !dialect.keepsNewlines, text.unicodeScalars.contains("\n") else { return value }
            problems.append(.newlineInString)
            return .string(text.unicodeScalars.map { $0 == "\n" ? "\\n" : String($0) }.joined())
        case .integer, .boolean: return value
        }
    }

    mutating func key(_ key: String) -> String {
        if key == "time" {
            problems.append(.reservedName)
            return "time_"
        }
        let result = name(key)
        guard result.utf8.first == UInt8(ascii: "_") else { return result }
        problems.append(.reservedName)
        return "-" + String(result.unicodeScalars.dropFirst())
    }

    mutating func name(_ name: String, isMeasurement: Bool = false) -> String {
        let scalars = Array(name.unicodeScalars)
        var result = ""
        var found: Set<LineProblem> = []
        for (index, scalar) in scalars.enumerated() {
            let next = index + 1 < scalars.count ? scalars[index + 1] : "\\"
            let previous = index > 0 ? scalars[index - 1] : " "
            if scalar.value < 0x20 || scalar.value == 0x7F {
                found.insert(.controlCharacter)
                result.unicodeScalars.append("-")
            } else if scalar == "\\", previous == "\\" || "\\,= \"".unicodeScalars.contains(next) {
                found.insert(.ambiguousBackslash)
                result.unicodeScalars.append("-")
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        if isMeasurement, let first = scalars.first, first == "#" || first == "_" {
            found.insert(first == "#" ? .leadingHash : .reservedName)
            result = "-" + String(result.unicodeScalars.dropFirst())
        }
        problems += found
        return result
    }

    private mutating func time(_ time: Timestamp) -> Timestamp {
        let (low, high) = (Timestamp.earliest.nanoseconds, Timestamp.latest.nanoseconds)
        if time.nanoseconds < low || time.nanoseconds > high { problems.append(.timeOutOfRange) }
        let unit = precision.nanosecondsPerUnit
        let inside = min(max(time.nanoseconds, low), high)
        var count = inside / unit
        if count * unit > inside, (count - 1).multipliedReportingOverflow(by: unit).overflow == false,
            (count - 1) * unit >= low
        {
            count -= 1
        }
        return Timestamp(nanoseconds: count * unit)
    }
}
