import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct ASCIITests {
    @Test func caseIsFoldedForLettersOnly() {
        for (left, right) in [("@", "`"), ("[", "{"), ("^", "~"), ("\u{0}", " "), ("É", "é"), ("k", "\u{212A}")] {
            #expect(!ASCII.isEqualIgnoringCase(left, right))
        }
        #expect(ASCII.isEqualIgnoringCase("AZaz", "azAZ"))
    }

    @Test func isLowercaseChecksEveryPosition() {
        for count in 0..<40 {
            var bytes = [UInt8](repeating: UInt8(ascii: "a"), count: count)
            #expect(ASCII.isLowercase(bytes))
            for place in 0..<count {
                for byte in UInt8.min...UInt8.max {
                    bytes[place] = byte
                    let isCapital = UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
                    let answer = ASCII.isLowercase(bytes)
                    if answer != (byte < 0x80 && !isCapital) { Issue.record("\(byte) at \(place) of \(count)") }
                }
                bytes[place] = UInt8(ascii: "a")
            }
        }
    }

    @Test func digitsAreRecognizedForEveryByte() {
        for byte in 0...UInt8.max {
            let character = Character(Unicode.Scalar(byte))
            #expect(ASCII.isDigit(byte) == ("0"..."9" ~= character), "byte \(byte)")
            #expect(ASCII.hexadecimalValue(byte).map(Int.init) == character.hexDigitValue, "byte \(byte)")
        }
    }

    @Test(
        arguments: [
            ("0", 0), ("007", 7), ("127", 127), ("128", nil), ("1000", nil), ("", nil), ("-1", nil), ("+1", nil),
            (" 1", nil), ("1.", nil), ("1000x", nil), ("１", nil),
        ] as [(String, Int8?)])
    func digitsAreReadAsNumber(_ text: String, _ expected: Int8?) {
        let number: Int8? = ASCII.number(text.utf8)
        #expect(number == expected)
        let greatest: Int8? = ["128", "1000"].contains(text) ? 100 : expected.map { min($0, 100) }
        let clamped: Int8? = ASCII.number(text.utf8, most: 100)
        #expect(clamped == greatest)
        let expectedOfTwo = text == "0" ? expected : nil
        let ofTwo: Int8? = ASCII.number(text.utf8, digits: 1...2)
        #expect(ofTwo == expectedOfTwo)
    }

    @Test(arguments: [
        ("", ""), (" ", ""), ("\t \t", ""), ("a", "a"), (" a", "a"), ("a\t", "a"), (" \ta  b\t ", "a  b"),
        ("\na ", "\na"),
    ])
    func spacesAndTabsAreTrimmed(_ text: String, _ trimmed: String) {
        #expect(Array(ASCII.trimmed(text.utf8)) == Array(trimmed.utf8))
    }
}
