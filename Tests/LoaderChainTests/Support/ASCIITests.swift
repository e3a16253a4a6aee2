import Testing

@testable import LoaderChain

@Suite struct ASCIITests {
    @Test func caseIsFoldedForLettersOnly() {
        for (left, right) in [("@", "`"), ("[", "{"), ("^", "~"), ("\u{0}", " "), ("É", "é"), ("k", "\u{212A}")] {
            #expect(!ASCII.isEqualIgnoringCase(left, right))
        }
        #expect(ASCII.isEqualIgnoringCase("AZaz", "azAZ"))
    }

    @Test func everyByteIsADigitOrIsNot() {
        for byte in 0...UInt8.max {
            let character = Character(Unicode.Scalar(byte))
            #expect(ASCII.isDigit(byte) == ("0"..."9" ~= character), "byte \(byte)")
            #expect(ASCII.hexadecimalValue(byte).map(Int.init) == character.hexDigitValue, "byte \(byte)")
        }
    }

    @Test(arguments: [
        ("", ""), (" ", ""), ("\t \t", ""), ("a", "a"), (" a", "a"), ("a\t", "a"), (" \ta  b\t ", "a  b"),
        ("\na ", "\na"),
    ])
    func spacesAndTabsAreTrimmed(_ text: String, _ trimmed: String) {
        #expect(Array(ASCII.trimmed(text.utf8)) == Array(trimmed.utf8))
    }
}
