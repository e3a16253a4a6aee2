import LoaderChain
import Testing

@testable import APIHealthKit

@Suite(.timeLimit(.minutes(10))) struct StatusSetTests {
    @Test func statusSetParsesCodesClassesAndRanges() throws {
        let set = try #require(StatusSet("200,3XX,400-404"))
        let inside = [100, 199, 200, 201, 300, 399, 400, 404, 405].filter { set.contains(HTTPStatus($0)) }
        #expect(inside == [200, 300, 399, 400, 404])
        #expect(set.wantsRedirects)
        #expect(!StatusSet.success.wantsRedirects)
        for text in ["", "20", "2000", "6xx", "0xx", "abc", "204-200", "200,", "2xx-3xx", "-200", "099"] {
            #expect(StatusSet(text) == nil, "\(text)")
        }
    }
}
