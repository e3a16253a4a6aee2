// Policy: what cannot be encoded, and what becomes of it. Depends on Model; Core and later folders may use it.

/// What the target servers understand beyond the portable syntax.
public struct LineDialect: Sendable, Hashable {
    /// Whether a string keeps its line ends.
    ///
    /// InfluxDB reads them. Other servers end the line there, so a line end in a string from an untrusted source
    /// could inject a line. Unless this is set, a line end is written as the two characters `\n`.
    public var keepsNewlines: Bool

    /// Whether unsigned numbers are written as such, with a `u`.
    ///
    /// Servers before InfluxDB 2 refuse them. Unless this is set, they are written as integers, and left out if they are
    /// too large for one.
    public var writesUnsigned: Bool

    /// Names what the servers understand.
    public init(keepsNewlines: Bool = false, writesUnsigned: Bool = false) {
        self.keepsNewlines = keepsNewlines
        self.writesUnsigned = writesUnsigned
    }

    /// What every server understands.
    public static let portable = LineDialect()

    /// What InfluxDB 1 understands: line ends in strings.
    public static let influxDB1 = LineDialect(keepsNewlines: true)

    /// What InfluxDB 2 and 3 understand: line ends in strings, and unsigned numbers.
    public static let influxDB2 = LineDialect(keepsNewlines: true, writesUnsigned: true)
}
