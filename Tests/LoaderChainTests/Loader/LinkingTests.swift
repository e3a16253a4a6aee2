import TestProcesses
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct LinkingTests {
    private let a = NamedLoader("A"), b = NamedLoader("B"), c = NamedLoader("C")

    @Test func operatorLinksLeftToRightAndReturnsHead() {
        let chain = a --> b --> c
        #expect(chain === a)
        #expect(a.nextLoader === b)
        #expect(b.nextLoader === c)
        #expect(c.nextLoader == nil)
    }

    @Test func operatorAppendsToTailOfChain() {
        let base = a --> b
        base --> c
        #expect(base.description == "A --> B --> C")
    }

    @Test func nilLoadersAreLeftOut() {
        let nothing: HTTPLoader? = nil
        let something: HTTPLoader? = b
        #expect((a --> nothing --> something --> c).description == "A --> B --> C")
        let none = nothing --> nothing
        #expect(none == nil)
        let last = nothing --> NamedLoader("D")
        #expect(last.description == "D")
    }

    @Test func operatorBindsTighterThanNilCoalescing() {
        let nothing: HTTPLoader? = nil
        let chain = nothing ?? a --> b
        #expect(chain.description == "A --> B")
    }

    @Test func chainsMayShareATail() {
        let tail = NamedLoader("tail")
        a --> tail
        b --> tail
        #expect(a.nextLoader === tail)
        #expect(b.nextLoader === tail)
    }

    @Test func descriptionContainsDetailsOfLoaders() {
        final class Limited: HTTPLoader, @unchecked Sendable {
            override var details: String { "limit 4, running 2" }
        }
        #expect("\(a --> Limited() --> c)" == "A --> Limited(limit 4, running 2) --> C")
    }

    #if os(Linux) || os(macOS)
        @Test func secondNextLoaderTraps() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                trapWithoutBacktrace()
                let first = NamedLoader("First")
                first.nextLoader = NamedLoader("Second")
                first.nextLoader = NamedLoader("Third")
            }
            let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(text.contains("First is already linked to Second, and cannot be linked to Third too"))
        }

        @Test func removingNextLoaderTraps() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                trapWithoutBacktrace()
                let chain = NamedLoader("First") --> NamedLoader("Second")
                chain.nextLoader = nil
            }
            let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(text.contains("First is already linked to Second; links cannot be removed"))
        }

        @Test func linkBehindTerminalTraps() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                trapWithoutBacktrace()
                let base = NamedLoader("First")
                base --> NamedLoader("Users") --> MockLoader()
                // This would send images through what is for users.
                base --> NamedLoader("Images") --> MockLoader()
            }
            let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(text.contains("Images cannot come after MockLoader, which is a terminal and passes nothing on."))
        }

        @Test func linkThatClosesCycleTraps() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                trapWithoutBacktrace()
                let chain = NamedLoader("First") --> NamedLoader("Second")
                chain --> chain
            }
            let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(text.contains("Second cannot be linked to First, which leads back to it"))
        }

        @Test func cycleThroughBranchTraps() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                trapWithoutBacktrace()
                let branch = NamedLoader("Branch")
                let fork = ForkedLoader([branch])
                branch --> fork
            }
            let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(text.contains("Branch cannot be linked to ForkedLoader"))
        }
    #endif
}
