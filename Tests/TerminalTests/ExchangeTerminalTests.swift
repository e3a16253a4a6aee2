import Dispatch
import Foundation
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

    #if os(Linux)
        private static let bodies: [(HTTPMethod, HTTPStatus, HTTPHeaders, isWhole: Bool)] = [
            (.get, .ok, ["Content-Length": "9"], false), (.get, .ok, ["Content-Length": "5"], true),
            (.get, .ok, [:], true), (.get, .ok, ["Content-Length": "9", "Content-Encoding": "gzip"], true),
            (.head, .ok, ["Content-Length": "9"], true), (.get, .notModified, ["Content-Length": "9"], true),
            (.get, .noContent, ["Content-Length": "9"], true),
        ]

        /// Over HTTP/2, an older libcurl takes a body that was cut for whole.
        @Test(arguments: bodies)
        func bodyShorterThanAnnouncedIsIncomplete(
            _ method: HTTPMethod, _ status: HTTPStatus, _ headers: HTTPHeaders, _ isWhole: Bool
        ) throws {
            let transport = StubbornTransport()
            let terminal = ExchangeTerminal.entrance("Terminal", to: owner(transport), 4)
            let result = Locked<Result<HTTPResponse, HTTPError>?>(nil)
            terminal.load(request: HTTPRequest(method: method, host: "test")) { end in result.withLock { $0 = end } }
            let exchange = try #require(transport.exchanges.withLock(\.first))
            exchange.receive(status, headers)
            if method == .get, status == .ok { exchange.receive(Data("hello".utf8)) }
            exchange.ended { .arrived(trailers: [:]) }
            let end = result.withLock(\.self)
            #expect(isWhole == (end?.response != nil && end?.error == nil))
            #expect(isWhole || end?.error?.code == .connectionLost && end?.error?.response?.status == .ok)
        }
    #endif

    /// libcurl refuses it too, URLSession sends the credentials, and neither says what to do.
    @Test func userInURLIsRefusedWithoutSending() async throws {
        let transport = StubbornTransport()
        let terminal = ExchangeTerminal.entrance("Terminal", to: owner(transport), 4)
        let url = try #require(URL(string: "https://anna:geheim@test/"))
        let error = await #expect(throws: HTTPError.self) { try await terminal.load(HTTPRequest(url: url)) }
        #expect(transport.exchanges.withLock(\.isEmpty))
        let text = try #require(error).description
        #expect(text.contains("a BasicAuth") && !text.contains("geheim") && !text.contains("anna"))
    }

    private func owner(_ transport: StubbornTransport) -> ExchangeOwner {
        ExchangeOwner(
            .init(
                headers: [:], timeout: .seconds(60), resourceTimeout: .seconds(60), nameOfResourceTimeout: "limit",
                responseSizeLimit: 1_000), over: transport, timers: ManualTimers())
    }

    /// What a cache has is the user's who was signed in, however the reset has ended.
    @Test(arguments: [true, false]) func resetForgetsAlsoIfItIsGivenUp(_ isGivenUp: Bool) throws {
        let transport = StubbornTransport()
        let owner = owner(transport)
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
