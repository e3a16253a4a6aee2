import DurableFilesTesting
import LoaderChainPlatformFoundation
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct ResponseEventsTests {
    @Test func eventsAreReadFromEveryDelivery() async throws {
        let text = "id:1\nevent:add\ndata:a\n\ndata:b\n\ndata:cut"
        let expected = [ServerSentEvent(type: "add", data: "a", id: "1"), ServerSentEvent(data: "b", id: "1")]
        let headers: HTTPHeaders = ["Content-Type": "Text/Event-Stream; charset=utf-8"]
        let inMemory = HTTPResponse(request: .sample, status: .created, headers: headers, body: Data(text.utf8))
        #expect(try await inMemory.serverSentEvents().collected() == expected)

        let directory = try TemporaryDirectory()
        var stored = HTTPResponse(request: .sample, status: .ok, headers: headers)
        stored.file = try directory.file("events", Data(text.utf8))
        #expect(try await stored.serverSentEvents().collected() == expected)

        for pieces in Deliveries.halves(Array(text.utf8)) {
            let response = Deliveries.response(pieces, status: .accepted)
            #expect(try await response.serverSentEvents().collected() == expected)
        }
    }

    static let unusable: [(HTTPStatus, String?)] = [
        (.notFound, "text/event-stream"), (.found, "text/event-stream"), (.ok, "application/json"), (.ok, nil),
    ]

    @Test(arguments: unusable)
    func unusableResponseThrowsAndEnds(_ status: HTTPStatus, _ type: String?) async throws {
        let response = Deliveries.response([Array("data:a\n\n".utf8)], status: status, type: type)
        var events = response.serverSentEvents().makeAsyncIterator()
        let error = await #expect(throws: HTTPError.self) { try await events.next() }
        #expect(error?.code == .invalidResponse && error?.response?.status == status)
        #expect(error?.response?.chunks == nil)
        #expect(try await events.next() == nil)
    }

    @Test func eventsBeforeErrorAreRead() async throws {
        let lost = HTTPError(.connectionLost, request: .sample)
        let broken = Deliveries.response([Array("data:a\n\ndata:b\n".utf8)], error: lost)
        var cut = broken.serverSentEvents().makeAsyncIterator()
        #expect(try await cut.next()?.data == "a")
        #expect(await #expect(throws: HTTPError.self) { try await cut.next() }?.code == .connectionLost)
        #expect(try await cut.next() == nil)
        let large = Deliveries.response([Array("data:a\n\ndata:0123456789\n\n".utf8)])
        var long = large.serverSentEvents(upTo: 10).makeAsyncIterator()
        #expect(try await long.next()?.data == "a")
        #expect(await #expect(throws: HTTPError.self) { try await long.next() }?.code == .responseTooLarge)
        #expect(try await long.next() == nil)
    }
}
