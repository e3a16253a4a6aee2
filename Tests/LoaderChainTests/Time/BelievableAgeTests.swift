import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct BelievableAgeTests {
    @Test(arguments: [
        (0, 10, 0), (5, 10, 5), (-1, 10, 0), (86_400 * 60, 10, 86_400 * 60), (86_400 * 61, 10, 0),
        (86_400 * 61, 86_400 * 31, 86_400 * 61),
    ])
    func implausibleAgeIsZero(age: Int, limit: Int, believed: Int) {
        #expect(Duration.seconds(age).believableAge(limit: .seconds(limit)) == .seconds(believed))
    }
}
