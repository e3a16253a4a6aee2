import LineProtocol

/// A field that was written with another type than the one it has, as InfluxDB 1 and 2 tell of it.
///
/// `field type conflict: input field "f" on measurement "m" is type integer, already exists as type float dropped=2`
struct FieldConflict {
    let measurement: String
    let field: String
    /// The type that was written.
    let type: String

    init?(_ message: String) {
        guard let start = message.firstRange(of: "field type conflict: input field \""),
            let middle = message[start.upperBound...].firstRange(of: "\" on measurement \""),
            let type = message[middle.upperBound...].firstRange(of: "\" is type "),
            let end = message[type.upperBound...].firstRange(of: ", already exists")
        else { return nil }
        field = String(message[start.upperBound..<middle.lowerBound])
        measurement = String(message[middle.upperBound..<type.lowerBound])
        self.type = String(message[type.upperBound..<end.lowerBound])
    }

    /// The lines that write the field with the type.
    func lines(in batch: LineBatch) -> [Int] {
        var found: [Int] = []
        batch.decode { line, point in
            guard point.measurement == measurement, let value = point.fields[field], Self.name(of: value) == type
            else { return }
            found.append(line)
        }
        return found
    }

    private static func name(of value: FieldValue) -> String {
        switch value {
        case .double, .float: "float"
        case .integer: "integer"
        case .unsigned: "unsigned"
        case .boolean: "boolean"
        case .string: "string"
        }
    }
}
