import Dispatch
import LoaderChainTesting
import Testing

@testable import LoaderChain

/// What a transport is asked to do, without a network.
@Suite(.timeLimit(.minutes(10))) struct ExchangeTerminalTests {
    /// Keeps its transfers going, also when they are cancelled.
    private final class StubbornTransport: Transport, Transfer {
        let exchanges = Locked<[Exchange]>([])
        let timesForgotten = Locked(0)

        var patience: Duration? { nil }
        var endsWhereCodeMayRun: Bool { true }
        func refusal(of request: HTTPRequest) -> TransferFailure? { nil }
        func needsFile(for content: HTTPBodyContent) -> Bool { false }
        func forget() { timesForgotten.withLock { $0 += 1 } }
        func cancel() {}
        func measure(
            _ metrics: inout TransferMetrics, firstByte: TimerInstant?, until end: TimerInstant, isWhole: Bool
        ) {}

        func send(_ request: EncodedRequest, _ content: HTTPBodyContent, for exchange: Exchange) {
            #expect(exchange.begin(self))
            exchanges.withLock { $0.append(exchange) }
        }
    }

    /// What a cache has is the user's who was signed in, however the reset has ended.
    @Test(arguments: [true, false]) func resetForgetsAlsoIfItIsGivenUp(_ isGivenUp: Bool) throws {
        let transport = StubbornTransport()
        let owner = ExchangeOwner(
            .init(
                headers: [:], timeout: .seconds(60), resourceTimeout: .seconds(60), nameOfResourceTimeout: "limit",
                responseSizeLimit: 1_000), over: transport, timers: ManualTimers())
        let terminal = ExchangeTerminal.entrance("Terminal", to: owner, 4)
        terminal.load(request: HTTPRequest(host: "test")) { _ in }
        let group = DispatchGroup()
        owner.cancelAll(in: group)
        #expect(transport.timesForgotten.withLock(\.self) == 0)
        let exchange = try #require(transport.exchanges.withLock(\.first))
        if isGivenUp { owner.giveUp(group) }
        exchange.ended { .failed(TransferFailure(.cancelled, nil)) }
        #expect(transport.timesForgotten.withLock(\.self) == 1)
        #expect(group.wait(timeout: .now()) == .success)
    }
}
