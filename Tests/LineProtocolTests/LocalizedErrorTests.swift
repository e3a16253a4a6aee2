import Foundation
import LineProtocol
import LineProtocolFoundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct LocalizedErrorTests {
    @Test func whatAProgramShowsNamesThePlaceAndTheReason() {
        let decoding: any Error = LineDecodingError(line: 3, column: 12, code: .missingFieldValue)
        #expect(decoding.localizedDescription == "line 3, column 12: a field has no value")
        let encoding: any Error = LineEncodingError(.tag("host"), .emptyTagValue)
        #expect(encoding.localizedDescription == #"tag "host": its value is empty"#)
    }
}
