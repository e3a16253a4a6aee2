import TestSizes
import Testing

@testable import LoaderChain

private typealias Baggage = HTTPTraceContext.Baggage

@Suite(.timeLimit(.minutes(10))) struct BaggageTests {
    private func read(_ values: String...) -> Baggage {
        Baggage(HTTPHeaders(values.map { HTTPHeaders.Field("baggage", $0) }))
    }

    @Test func membersAreReadInTheirOrder() {
        let baggage = read("key1=value1;property1;property2 = x%20y , key2 = value2, key3=a=b", "key1=again")
        #expect(baggage.members.map(\.key) == ["key1", "key2", "key3", "key1"])
        #expect(baggage.members.map(\.value) == ["value1", "value2", "a=b", "again"])
        #expect(baggage.members.first?.properties.map(\.key) == ["property1", "property2"])
        #expect(baggage.members.first?.properties.map(\.value) == [nil, "x y"])
        #expect(baggage["key1"] == "value1" && baggage["none"] == nil)
    }

    @Test func valuesArePercentDecoded() {
        #expect(read("k=%E4%BD%A0%2C%3B%5C%22%20%25")["k"] == "你,;\\\" %")
        #expect(read("k=")["k"] == "")
        #expect(read("k=%GG%E4")["k"] == "%GG\u{FFFD}")
    }

    @Test(arguments: [
        "bad", "=1", "k k=1", "k=a b", "k=a\"b", "k=a\\b", "k=ä", "k=1;", "k=1;;p", "k=1;p p", "k=1;p=\"", "kä=1", "",
        "k=a\u{1}",
    ])
    func invalidMemberIsLeftOut(_ member: String) {
        #expect(read("a=1,\(member),b=2").members.map(\.key) == ["a", "b"])
    }

    @Test func settingReplacesMembersOfSameKey() {
        var baggage = read("a=1,b=2,a=3")
        let isSet = baggage.set("a", to: "x, y; \"z\" \\ 100 % é")
        #expect(isSet)
        #expect(baggage.fieldValue == "b=2,a=x%2C%20y%3B%20%22z%22%20%5C%20100%20%25%20%C3%A9")
        for key in ["a b", "", "a=b", "ä"] {
            let isSet = baggage.set(key, to: "1")
            #expect(!isSet && Baggage.Property(key) == nil)
        }
        baggage.set("a", to: "1", properties: [.init("p"), .init("q", "é,")].compactMap(\.self))
        #expect(baggage.fieldValue == "b=2,a=1;p;q=%C3%A9%2C")
        baggage.remove("a")
        baggage.remove("b")
        #expect(baggage.fieldValue == nil)
    }

    @Test func membersBeyondSixtyFourAreLeftOut() {
        let members = (0..<65).map { "k\($0)=1" }
        #expect(read(members.joined(separator: ",")).members.count == 64)
        var baggage = Baggage()
        for number in 0..<65 { baggage.set("k\(number)", to: "1") }
        #expect(baggage.fieldValue == members.prefix(64).joined(separator: ","))
    }

    @Test func membersBeyondByteLimitAreLeftOut() {
        func member(_ key: String, _ length: Int) -> String { "\(key)=" + String(repeating: "v", count: length - 2) }
        let whole = member("a", 4_096) + "," + member("b", 4_095)
        #expect(read(whole).fieldValue == whole)
        #expect(read(member("a", 4_096), member("b", 4_096)).members.map(\.key) == ["a"])
        var baggage = Baggage()
        baggage.set("a", to: String(repeating: "v", count: 8_000))
        baggage.set("b", to: String(repeating: "v", count: 8_000))
        baggage.set("c", to: "1")
        #expect(baggage.fieldValue?.hasSuffix("v,c=1") == true)
        #expect(baggage.fieldValue?.utf8.count == 8_006)
    }

    @Test func anyTextRoundTrips() {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<testSize(usually: 300) {
            var baggage = Baggage()
            for number in 0..<3 {
                let scalars = (0..<Int.random(in: 0...12, using: &generator)).compactMap { _ in
                    Unicode.Scalar(UInt32.random(in: 0...0x2FF, using: &generator))
                }
                baggage.set("k\(number)", to: String(String.UnicodeScalarView(scalars)))
            }
            let field = baggage.fieldValue ?? ""
            #expect(throws: Never.self) { try HTTPHeaders([.init("baggage", field)]).validate() }
            #expect(read(field) == baggage, "\(field)")
        }
    }
}
