import LoaderChainPlatformC
import Testing

@testable import DurableFiles

@Suite(.timeLimit(.minutes(10))) struct UninterruptedTests {
    @Test(arguments: [(-1, EAGAIN), (0, EINTR), (5, 0)])
    func onlyInterruptedCallIsRepeated(_ last: Int, _ lastCode: CInt) {
        var calls = 0
        let (answer, code) = uninterrupted {
            calls += 1
            switch calls {
            case ..<3: errno = EINTR
            case 3: errno = lastCode
            default: errno = 0  // An unexpected call; it succeeds, so that the test ends.
            }
            return calls < 3 ? -1 : last
        }
        #expect(calls == 3)
        #expect(answer == last)
        #expect(code == lastCode)
    }
}
