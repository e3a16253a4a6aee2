import Dispatch
import LoaderChain
import LoaderChainPlatformFoundation
import LoaderChainTesting
import Testing

/// The calls that an app makes every day.
@Suite(.timeLimit(.minutes(10))) struct CommonCallsTests {
    private struct User: Codable, Hashable { var name: String }

    private let ada = #"{"name":"Ada"}"#

    @Test func requestsAreBuiltFromMethodPathAndQuery() throws {
        let list = HTTPRequest.get("users", query: ["page": "2", "q": "a&b", "page": "3", "flag": nil])
        #expect(list.method == .get && list.path == "users" && list.query == "page=2&q=a%26b&page=3&flag")
        #expect(HTTPRequest.head("/x").method == .head && HTTPRequest.delete("/x").method == .delete)
        let methods: [HTTPRequest] = [.post("/x"), .put("/x"), .patch("/x")]
        #expect(methods.map(\.method) == [.post, .put, .patch] && methods.allSatisfy(\.body.isEmpty))
        #expect(HTTPRequest.get("/a?b").url == nil && HTTPRequest.get("/a?b").path == "/a%3Fb")
        let bodies: [HTTPRequest] = [
            .post("/x", json: User(name: "Ada")), .put("/x", json: User(name: "Ada")),
            .patch("/x", json: User(name: "Ada")), .post("/x", body: DataBody(Data(ada.utf8))),
        ]
        for request in bodies { #expect(try request.body.encode().data(upTo: 99) == Data(ada.utf8)) }
        #expect(bodies[0].body.additionalHeaders["Content-Type"] == "application/json")
    }

    @Test func responseIsDecodedAsExpectedType() async throws {
        let chain =
            ApplyEnvironment(host: "test", pathPrefix: "/v1") --> MockLoader().on(.get, "/v1/users/7", body: ada)
        let user: User = try await chain.load(.get("users/7"))
        #expect(user == User(name: "Ada"))
    }

    @Test @MainActor func optionsClosureRunsOnCallersActor() async throws {
        let terminal = ScriptedTerminal { [ada] _ in .success(body: ada) }
        let chain = ApplyEnvironment(host: "test") --> terminal
        var calls = 0
        try await chain.load(.get("me")) {
            $0.timeout = .seconds(5)
            calls += 1
        }
        let user: User = try await chain.load(.get("me")) {
            $0.timeout = .seconds(6)
            calls += 1
        }
        #expect(user == User(name: "Ada") && calls == 2)
        #expect(terminal.requests.map(\.timeout) == [.seconds(5), .seconds(6)])
    }

    // MARK: The main actor

    private static let mainKey: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    /// Whether this runs on the main queue, which the main actor's code does.
    private static var isOnMain: Bool { DispatchQueue.getSpecific(key: mainKey) == true }

    /// Whether this was decoded on the main queue.
    private struct Probe: Decodable, Sendable {
        let isOnMain: Bool

        init(from decoder: any Decoder) throws {
            _ = try decoder.singleValueContainer().decode(Int.self)
            isOnMain = CommonCallsTests.isOnMain
        }
    }

    @Test(arguments: [true, false]) @MainActor
    func loadingAndDecodingLeaveMainActorFree(validates: Bool) async throws {
        #expect(Self.isOnMain)
        let log = EventLog()
        let terminal = ScriptedTerminal { _ in
            log.note("\(CommonCallsTests.isOnMain)")
            return .success(body: "7")
        }
        let chain = ApplyEnvironment(host: "test") --> (validates ? Validate() : nil) --> terminal
        let first: Probe = try await chain.load(.get("me"))
        let second: Probe = try await chain.load(.get("me")) { $0.timeout = .seconds(5) }
        #expect(!first.isOnMain && !second.isOnMain && log.events == ["false", "false"])
    }

    // MARK: Downloads

    @Test func downloadStoresBodyInFileAndRequiresSuccess() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "download-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "film.mp4")
        let mock = MockLoader().on(.get, "/film.mp4", body: "film").on(.get, "/gone", .notFound)
        let chain = ApplyEnvironment(host: "test") --> mock
        #expect(try await chain.download(.get("film.mp4"), to: file).file == file)
        #expect(try Data(contentsOf: file) == Data("film".utf8))
        do {
            try await chain.download(.get("gone"), to: file)
            Issue.record("there was a response")
        } catch {
            #expect(error.code == .invalidResponse && error.response?.status == .notFound)
        }
        #expect(try Data(contentsOf: file) == Data("film".utf8))
        do {
            try await chain.download(.get("film.mp4"), to: folder.appending(path: "missing/film.mp4"))
            Issue.record("there was a response")
        } catch {
            #expect(error.code == .cannotStoreResponse)
        }
    }

    @Test func progressIsFractionWhenLengthIsKnown() {
        let progress = TransferProgress(bytesSent: 1, bytesToSend: 4, bytesReceived: 9)
        #expect(progress.fractionSent == 0.25 && progress.fractionReceived == nil)
        #expect(TransferProgress(bytesSent: 0, bytesToSend: 0).fractionSent == 1)
        #expect(TransferProgress(bytesReceived: 9, bytesToReceive: 4).fractionReceived == 1)
    }

    // MARK: Loaders without arguments

    @Test func validateRequiresSuccess() async throws {
        let chain = Validate() --> MockLoader().on(.get, "/a", .notFound).on(.get, "/b", .noContent)
        await #expect(throws: HTTPError.self) { try await chain.load(HTTPRequest(host: "test", path: "/a")) }
        #expect(try await chain.load(HTTPRequest(host: "test", path: "/b")).status == .noContent)
    }

    @Test func retryMakesThreeAttempts() async throws {
        let timers = ManualTimers()
        let terminal = ScriptedTerminal { _ in .failure(.timedOut) }
        let chain = Retry(timers: timers) --> terminal
        let log = EventLog()
        chain.load(request: HTTPRequest(host: "test", path: "/a")) { log.note("\($0.attempts)") }
        timers.advance(by: .seconds(1.5))
        #expect(log.events == ["3"] && terminal.requests.count == 3 && timers.pendingCount == 0)
        chain.load(request: HTTPRequest(method: .post, host: "test", path: "/a")) { log.note("\($0.attempts)") }
        #expect(log.events == ["3", "1"])
    }
}
