import LineProtocol
import Testing

@Suite(.timeLimit(.minutes(10))) struct LineEncoderTests {
    static let point = Point("m", tags: ["k": "v"], fields: ["f": 1], timestamp: .milliseconds(1_500))

    @Test func encoderDescriptionIsItsLines() {
        var encoder = LineEncoder(precision: .seconds)
        encoder.append(Point("queue", fields: ["length": 3], timestamp: .seconds(7)))
        #expect("\(encoder)" == "queue length=3i 7\n")
    }

    @Test func everyTypeOfFieldIsWritten() {
        var encoder = LineEncoder()
        encoder.append(
            Point(
                "my meas,=",
                tags: ["b,=c ": "x,=y z", "a": "\\w"],
                fields: [
                    "double": 0.5, "whole": .double(3), "float": .float(0.1), "int": -7, "unsigned": .unsigned(8),
                    "yes": true, "no": false, "text": "say \"hi\" \\ ,= \r\t", "empty": "", "k,= y": 1,
                ], timestamp: .nanoseconds(-5)))
        #expect(
            encoder.text == #"my\ meas\,=,a=\w,b\,\=c\ =x\,\=y\ z double=0.5,whole=3,float=0.1,int=-7i,unsigned=8i,"#
                + #"yes=true,no=false,text="say \"hi\" \\ ,= "# + "\r\t" + #"",empty="",k\,\=\ y=1i -5"# + "\n")
        #expect(encoder.repairs.isEmpty)
    }

    @Test func tagsAreInByteOrderOnEveryPath() {
        var encoder = LineEncoder()
        let keys = ["b", "a,", "aZ", "a=", "é", "Z", "ab", "a b", "a", "abcdefgh2", "abcdefgh1", "abcdefgh"]
        encoder.append("m", timestamp: nil) { tags in
            for key in keys { tags.set(key, 1) }
        } fields: {
            $0.set("f", 1)
        }
        let sorted = keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        encoder.append(Point("m", tags: Tags(keys.map { ($0, "1") }), fields: ["f": 1]))
        let lines = encoder.text.split(separator: "\n")
        #expect(lines[0] == lines[1])
        #expect(Tags(keys.map { ($0, "1") }).map(\.key) == sorted)
        #expect(
            lines[0] == #"m,Z=1,a=1,a\ b=1,a\,=1,a\==1,aZ=1,ab=1,abcdefgh=1,abcdefgh1=1,abcdefgh2=1,b=1,é=1 f=1i"#)
    }

    @Test func defaultTagsAreMergedAndOwnTagsWin() {
        let defaults: Tags = ["a": "0", "k": "0", "z": "0"]
        var encoder = LineEncoder(defaults: defaults)
        encoder.append(Self.point)
        encoder.append(
            "m", timestamp: nil,
            tags: {
                $0.set("zz", "1"); $0.set("k", "2"); $0.set("a", "3")
            }
        ) {
            $0.set("f", 1)
        }
        encoder.append(encoder.series("m", tags: ["b": "1"]), timestamp: nil) { $0.set("f", 1) }
        encoder.append(PreparedSeries("m"), timestamp: nil) { $0.set("f", 1) }
        #expect(
            encoder.text
                == "m,a=0,k=v,z=0 f=1i 1500000000\nm,a=3,k=2,z=0,zz=1 f=1i\nm,a=0,b=1,k=0,z=0 f=1i\nm f=1i\n")
        #expect(encoder.repairs.isEmpty)
    }

    /// A point's own tag is written once and overrides the default, whatever its position after repairs and sorting.
    @Test func ownTagOverridesDefaultInAnyOrder() {
        let defaults: Tags = ["a\n": "0", "k,": "0", "time": "0"]
        var encoder = LineEncoder(defaults: defaults)
        for own: [(String, String)] in [
            [("time", "1"), ("a\t", "2"), ("k,", "3")], [("k,", "3"), ("a\t", "2"), ("time", "1")],
            [("a-", "2"), ("k,", "4"), ("k,", "3"), ("time_", "1")],
        ] {
            encoder.removeAll()
            encoder.append("m", timestamp: nil) { tags in
                for tag in own { tags.set(tag.0, tag.1) }
            } fields: { fields in
                fields.set("f", 1)
            }
            #expect(encoder.text == "m,a-=2,k\\,=3,time_=1 f=1i\n")
        }
        #expect(encoder.repairs[.duplicateTag] == 1)
    }

    @Test func problemsOfDefaultTagsAreCountedOnce() {
        var encoder = LineEncoder(defaults: ["time": "1", "k": ""])
        #expect(encoder.repairs[.reservedName] == 1 && encoder.repairs[.emptyTagValue] == 1)
        encoder.append(Point("m,", fields: ["f": 1]))
        #expect(encoder.text == "m\\,,time_=1 f=1i\n")
        #expect(encoder.repairs.total == 2)
        #expect(encoder.series("m").repairs.total == 2)
    }

    @Test(arguments: [
        (Precision.nanoseconds, "-1500000001"), (.microseconds, "-1500001"), (.milliseconds, "-1501"), (.seconds, "-2"),
    ])
    func timesAreRoundedTowardsThePast(_ precision: Precision, _ text: String) {
        var encoder = LineEncoder(precision: precision)
        encoder.append(Point("m", fields: ["f": 1], timestamp: .nanoseconds(-1_500_000_001)))
        #expect(encoder.text == "m f=1i \(text)\n")
    }

    @Test func copyOfEncoderIsIndependent() {
        var encoder = LineEncoder(capacity: 0)
        encoder.append(Self.point)
        var copy = encoder
        copy.append(Self.point)
        encoder.append(Point("other", fields: ["f": 2]))
        #expect(encoder.text == "m,k=v f=1i 1500000000\nother f=2i\n")
        #expect(copy.text == "m,k=v f=1i 1500000000\nm,k=v f=1i 1500000000\n")
    }

    @Test func bufferGrowsAndIsEmptied() throws {
        var encoder = LineEncoder(capacity: 0)
        var maker = PointMaker(seed: 31)
        var whole = ""
        var lines = 0
        for _ in 0..<2_000 {
            let point = maker.point()
            var alone = LineEncoder(capacity: 16)
            alone.append(point)
            encoder.append(point)
            whole += alone.text
            if !alone.isEmpty { lines += 1 }
        }
        #expect(encoder.text == whole)
        #expect(try decoded(encoder.bytes).count == lines)
        encoder.removeAll(keepingCapacity: false)
        #expect(encoder.isEmpty)
        encoder.append(Self.point)
        #expect(encoder.text == "m,k=v f=1i 1500000000\n")
    }

    @Test func callerErrorLeavesNoLine() throws {
        struct Stop: Error {}
        var encoder = LineEncoder()
        encoder.append(Self.point)
        let before = encoder.text
        #expect(throws: Stop.self) {
            try encoder.append("m", timestamp: nil) { tags in
                tags.set("k", "\n")
            } fields: { fields throws in
                fields.set("f", Double.nan)
                throw Stop()
            }
        }
        #expect(throws: Stop.self) {
            try encoder.append(PreparedSeries("\n"), timestamp: nil) { _ throws in throw Stop() }
        }
        #expect(encoder.text == before)
        #expect(encoder.repairs.isEmpty)
    }
}
