import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct StatusMeaningTests {
    /// The whole table, by the number.
    private static let meanings: [(statuses: [Int], meaning: StatusMeaning)] = [
        (Array(200...299), .accepted),
        (Array(100...199) + Array(300...399) + [-1, 0, 99, 600, 999, .max, .min], .unexpected),
        ([401, 407], .unauthorized),
        ([408, 409, 421, 423, 425, 500, 502, 503, 504, 506, 507, 508, 510, 511, 599], .unavailable),
        ([429], .overloaded),
        ([413], .tooLarge),
        ([415], .unsupportedEncoding),
        ([400, 406, 422], .malformed),
        ([402, 403, 404, 405, 410, 411, 412, 414, 416, 417, 418, 424, 426, 428, 431, 451, 499, 501, 505], .refused),
    ]

    @Test(arguments: meanings)
    func statusHasItsMeaning(statuses: [Int], meaning: StatusMeaning) {
        for status in statuses { #expect(StatusMeaning(HTTPStatus(status)) == meaning, "\(status)") }
    }

    @Test func everyMeaningIsTested() {
        #expect(Set(Self.meanings.map(\.meaning)) == Set(StatusMeaning.allCases))
    }

    @Test func onlyMeaningsUnrelatedToContentAreWorthRepeating() {
        let repeated = StatusMeaning.allCases.filter(\.isWorthRepeating)
        #expect(repeated == [.unexpected, .unauthorized, .unavailable, .overloaded])
    }

    @Test func transientStatusIsWorthRepeating() {
        let transient = (100...599).filter { HTTPStatus($0).isTransient }
        #expect(transient == [408, 429, 500, 502, 503, 504])
        #expect(transient.allSatisfy { StatusMeaning(HTTPStatus($0)).isWorthRepeating })
        let waits = (100...599).filter { HTTPStatus($0).asksToWait }
        #expect(waits == [429, 503])
    }
}
