import LineProtocol
import LoaderChain
import Testing

@Suite(.timeLimit(.minutes(10))) struct ModelTests {
    @Test func tagsAreSortedAndComparedByBytes() {
        var tags: Tags = ["b": "1", "a": "2", "b": "3"]
        #expect(tags.map(\.key) == ["a", "b"])
        #expect(tags["b"] == "3")
        tags["é"] = "composed"
        tags["e\u{301}"] = "decomposed"
        #expect(tags.count == 4)
        #expect(tags["é"] == "composed" && tags["e\u{301}"] == "decomposed")
        tags["a"] = nil
        tags["none"] = nil
        #expect(tags.first?.key == "b")
        #expect(Tags(["x": "1", "w": "2"]).description == "w=2,x=1")
    }

    @Test func tagsBehaveLikeASortedDictionary() {
        var generator = SeededGenerator(seed: 51)
        var tags = Tags()
        var model: [String: String] = [:]
        for _ in 0..<3_000 {
            let key = "\(Int.random(in: 0..<20, using: &generator))"
            let value = Bool.random(using: &generator) ? "\(Int.random(in: 0..<9, using: &generator))" : nil
            tags[key] = value
            model[key] = value
            #expect(tags.map(\.key) == model.keys.sorted())
            #expect(tags.allSatisfy { model[$0.key] == $0.value })
        }
    }

    @Test func fieldsKeepOrderButEqualityIgnoresIt() {
        var fields: Fields = ["b": 1, "a": 2.5, "b": "three"]
        #expect(fields.map(\.key) == ["b", "a"])
        #expect(fields["b"] == "three")
        #expect(fields == ["a": 2.5, "b": "three"])
        #expect(fields.hashValue == (["a": 2.5, "b": "three"] as Fields).hashValue)
        #expect(fields != ["a": 2.5])
        fields["b"] = nil
        fields["c"] = true
        #expect(fields == ["a": 2.5, "c": true])
        #expect(Fields([("x", .integer(1)), ("x", .integer(2))]).count == 1)
    }

    @Test func pointDescriptionIsItsLine() {
        #expect(Point("m", tags: ["k": "v"], fields: ["f": .unsigned(1)]).description == "m,k=v f=1u")
        #expect(Point("m", fields: [:]).description == "(no line)")
    }

    // MARK: Time

    @Test(
        arguments: [
            (Duration.zero, 0), (.nanoseconds(-1), -1), (Duration(secondsComponent: 0, attosecondsComponent: -1), -1),
            (Duration(secondsComponent: 1, attosecondsComponent: 999_999_999), 1_000_000_000),
            (Duration(secondsComponent: 9_223_372_036, attosecondsComponent: 854_775_807_000_000_000), Int64.max),
            (Duration(secondsComponent: 9_223_372_036, attosecondsComponent: 854_775_808_000_000_000), Int64.max),
            (Duration(secondsComponent: -9_223_372_036, attosecondsComponent: -854_775_808_000_000_000), Int64.min),
            (Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999), Int64.max),
            (Duration(secondsComponent: .min, attosecondsComponent: -999_999_999_999_999_999), Int64.min),
        ] as [(Duration, Int64)])
    func durationsConvertToClampedTimestamps(_ duration: Duration, _ nanoseconds: Int64) {
        #expect(Timestamp(duration).nanoseconds == nanoseconds)
    }

    @Test func countsRoundTripThroughTimestamps() {
        var maker = PointMaker(seed: 52)
        for _ in 0..<5_000 {
            let number = maker.integer()
            for precision in Precision.allCases {
                let unit = precision.nanosecondsPerUnit
                let time = Timestamp(number, precision)
                let wide = Double(number) * Double(unit)
                if wide > 1e19 { #expect(time.nanoseconds == .max) }
                if wide < -1e19 { #expect(time.nanoseconds == .min) }
                if time.nanoseconds != .max, time.nanoseconds > .min + unit {
                    #expect(time.count(in: precision) == number)
                }
                let count = Timestamp(nanoseconds: number).count(in: precision)
                let (back, overflow) = count.multipliedReportingOverflow(by: unit)
                #expect(overflow || back <= number || number < Timestamp.earliest.nanoseconds + unit)
                #expect(overflow || number &- back < unit)
            }
        }
    }
}
