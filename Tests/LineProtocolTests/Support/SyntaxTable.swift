import LineProtocol

/// Valid and invalid lines, as observed on InfluxDB 1.6.7.
enum SyntaxTable {
    /// A line and its point.
    static let taken: [(line: String, point: Point)] = [
        ("m f=1", Point("m", fields: ["f": 1.0])),
        ("  \tm f=1", Point("m", fields: ["f": 1.0])),
        ("m  f=1  12  ", Point("m", fields: ["f": 1.0], timestamp: .nanoseconds(12))),
        ("m f=1 -12", Point("m", fields: ["f": 1.0], timestamp: .nanoseconds(-12))),
        ("m f=1 9223372036854775806", Point("m", fields: ["f": 1.0], timestamp: .latest)),
        ("m f=1 -9223372036854775806", Point("m", fields: ["f": 1.0], timestamp: .earliest)),
        (#"my\ m\,x=y f=1"#, Point("my m,x=y", fields: ["f": 1.0])),
        (#"m,k\ 1\,\==v\ 1\,\= f=1"#, Point("m", tags: ["k 1,=": "v 1,="], fields: ["f": 1.0])),
        (#"m,k=b\xc f\y=1"#, Point("m", tags: ["k": #"b\xc"#], fields: [#"f\y"#: 1.0])),
        (#"m,k=x"y f"g=1"#, Point("m", tags: ["k": "x\"y"], fields: ["f\"g": 1.0])),
        (#"m\ n,k="x f=1"#, Point("m n", tags: ["k": "\"x"], fields: ["f": 1.0])),
        (#"m,k\ ="x f=1"#, Point("m", tags: ["k ": "\"x"], fields: ["f": 1.0])),
        ("m,k=\tb f=1", Point("m", tags: ["k": "\tb"], fields: ["f": 1.0])),
        (#"m k\ 1\,\==1"#, Point("m", fields: ["k 1,=": 1.0])),
        ("m,b=1,a=2 f=1", Point("m", tags: ["a": "2", "b": "1"], fields: ["f": 1.0])),
        ("_m,_a=1 _f=1", Point("_m", tags: ["_a": "1"], fields: ["_f": 1.0])),
        ("m f=.5", Point("m", fields: ["f": 0.5])),
        ("m f=5.", Point("m", fields: ["f": 5.0])),
        ("m f=-.5", Point("m", fields: ["f": -0.5])),
        ("m f=1e+16", Point("m", fields: ["f": 1e16])),
        ("m f=1E-7", Point("m", fields: ["f": 1e-7])),
        ("m f=5e-324", Point("m", fields: ["f": .double(.leastNonzeroMagnitude)])),
        ("m f=-0", Point("m", fields: ["f": -0.0])),
        ("m f=00012.50", Point("m", fields: ["f": 12.5])),
        ("m f=123456789012345678901234567890", Point("m", fields: ["f": 123_456_789_012_345_678_901_234_567_890.0])),
        ("m f=42i", Point("m", fields: ["f": 42])),
        ("m f=01i", Point("m", fields: ["f": 1])),
        ("m f=-9223372036854775808i", Point("m", fields: ["f": .integer(.min)])),
        ("m f=9223372036854775807i", Point("m", fields: ["f": .integer(.max)])),
        (
            "m a=t,b=T,c=true,d=True,e=TRUE",
            Point("m", fields: ["a": true, "b": true, "c": true, "d": true, "e": true])
        ),
        (
            "m a=f,b=F,c=false,d=False,e=FALSE",
            Point("m", fields: ["a": false, "b": false, "c": false, "d": false, "e": false])
        ),
        (#"m f="""#, Point("m", fields: ["f": ""])),
        (#"m f="a, b=c\"d\\e\n""#, Point("m", fields: ["f": #"a, b=c"d\e\n"#])),
        ("m f=\"a\nb\",g=1 5", Point("m", fields: ["f": "a\nb", "g": 1.0], timestamp: .nanoseconds(5))),
        ("m f=\"a\tb\rc\"", Point("m", fields: ["f": "a\tb\rc"])),
        ("m f=1i,f=2i", Point("m", fields: ["f": 2])),
    ]

    /// Lines that later servers accept and InfluxDB 1 rejects.
    static let takenLater: [(line: String, point: Point)] = [
        ("m f=42u", Point("m", fields: ["f": .unsigned(42)])),
        ("m f=18446744073709551615u", Point("m", fields: ["f": .unsigned(.max)])),
    ]

    /// A line, the reason why it is rejected, and the column.
    static let refused: [(line: String, code: LineDecodingError.Code, column: Int)] = [
        (",k=v f=1", .missingMeasurement, 1), ("m", .missingFields, 2), ("m ", .missingFields, 3),
        ("m,k=v", .missingFields, 6), ("m,k=v ", .missingFields, 7), ("m,k f=1", .missingTagValue, 4),
        ("m, f=1", .missingTagKey, 3), ("m,=v f=1", .missingTagKey, 3), ("m,k= f=1", .missingTagValue, 5),
        ("m,k=,l=1 f=1", .missingTagValue, 5), ("m,k=v, f=1", .missingTagKey, 7), ("m,,k=v f=1", .missingTagKey, 3),
        ("m,k=b=c f=1", .invalidTagFormat, 6), ("m,k=1,k=2 f=1", .duplicateTag, 7), ("m,time=1 f=1", .reservedTag, 3),
        (#"m,k=v\ f=1"#, .invalidTagFormat, 9), (#"m,k=v\\ f=1"#, .invalidTagFormat, 10),
        ("m =1", .missingFieldKey, 3), ("m f", .missingFieldValue, 4), ("m f=", .missingFieldValue, 5),
        ("m f= 5", .missingFieldValue, 5), ("m f=,g=1", .missingFieldValue, 5), ("m f=1,", .missingFieldKey, 7),
        ("m f=1,g", .missingFieldValue, 8), ("m ,f=1", .missingFieldKey, 3), ("m f=1,,g=2", .missingFieldKey, 7),
        ("m f=1 ,g=2", .invalidTimestamp, 7), ("m f=1\r", .invalidNumber, 5), ("m f=t\r", .invalidValue, 5),
        ("m f=1 12\r", .invalidTimestamp, 9), ("m f=1\t12", .invalidNumber, 5), ("m f=tRUE", .invalidValue, 5),
        ("m f=yes", .invalidValue, 5), ("m f=+5", .invalidValue, 5), ("m f=nan", .invalidValue, 5),
        ("m f=NaN", .invalidValue, 5), ("m f=inf", .invalidValue, 5), ("m f=-inf", .invalidNumber, 5),
        ("m f=-", .invalidNumber, 5), ("m f=.", .invalidNumber, 5), ("m f=-i", .invalidNumber, 5),
        ("m f=1e", .invalidNumber, 5), ("m f=1e+", .invalidNumber, 5), ("m f=1e+-5", .invalidNumber, 5),
        ("m f=--5", .invalidNumber, 5), ("m f=5-", .invalidNumber, 5), ("m f=1.2.3", .invalidNumber, 5),
        ("m f=1_000", .invalidNumber, 5), ("m f=0x10", .invalidNumber, 5), ("m f=1e5i", .invalidNumber, 5),
        ("m f=1.0i", .invalidNumber, 5), ("m f=9i10", .invalidNumber, 5), ("m f=1e400", .numberOutOfRange, 5),
        ("m f=9223372036854775808i", .numberOutOfRange, 5), ("m f=-9223372036854775809i", .numberOutOfRange, 5),
        ("m f=\"a", .unterminatedString, 5), ("m f=\"a\\\"", .unterminatedString, 5),
        ("m f=1 -", .invalidTimestamp, 7), ("m f=1 1.5", .invalidTimestamp, 8), ("m f=1 5x", .invalidTimestamp, 8),
        ("m f=1 5 5", .invalidTimestamp, 9), ("m f=1 9223372036854775807", .timestampOutOfRange, 7),
        ("m f=1 -9223372036854775807", .timestampOutOfRange, 7),
        ("m f=1 99999999999999999999", .timestampOutOfRange, 7),
        ("m,k=\(String(repeating: "v", count: 65_535)) f=1", .overlongKey, 65_541),
    ]

    /// Lines that InfluxDB 1 accepts although they violate its syntax, and that the decoder rejects.
    static let refusedHere: [(line: String, code: LineDecodingError.Code, column: Int)] = [
        ("m f=\"a\"b", .unexpectedText, 8), ("m f=-1u", .invalidNumber, 5),
        ("m f=18446744073709551616u", .numberOutOfRange, 5),
    ]
}
