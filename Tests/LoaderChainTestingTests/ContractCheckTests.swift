import LoaderChain
import LoaderChainTesting
import Testing

@Suite struct ContractCheckTests {
    @Test func aLoaderThatPassesOnKeepsTheContract() async {
        let violations = await ContractCheck { _ in HTTPLoader() }.run()
        #expect(violations.isEmpty, "\(violations)")
    }

    @Test func theClosureLoaderKeepsTheContract() async {
        let violations = await ContractCheck { _ in ClosureLoader { try await $1($0) } }.run()
        #expect(violations.isEmpty, "\(violations)")
    }
}
