import Testing

@testable import LoaderChain

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite(.timeLimit(.minutes(10))) struct BelievableAgeTests {
    @Test(arguments: [
        (0, 10, 0), (5, 10, 5), (-1, 10, 0), (86_400 * 60, 10, 86_400 * 60), (86_400 * 61, 10, 0),
        (86_400 * 61, 86_400 * 31, 86_400 * 61),
    ])
    func anAgeIsBelievedUpToABound(age: Int, limit: Int, believed: Int) {
        #expect(BelievableAge.of(.seconds(age), limit: .seconds(limit)) == .seconds(believed))
        let now = Date(timeIntervalSinceReferenceDate: 1e9)
        #expect(BelievableAge.since(now - Double(age), until: now, limit: .seconds(limit)) == .seconds(believed))
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, -1e300])
    func aDateThatIsNoneMakesNothingOld(seconds: Double) {
        let (now, strange) = (Date(timeIntervalSinceReferenceDate: 0), Date(timeIntervalSinceReferenceDate: seconds))
        #expect(BelievableAge.since(strange, until: now, limit: .seconds(Int64.max)) == .zero)
        #expect(BelievableAge.since(now, until: strange, limit: .seconds(Int64.max)) == .zero)
    }
}
