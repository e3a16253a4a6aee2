import Foundation
import InfluxReporting
import LineProtocol
import LoaderChain
import LoaderChainTesting
import ReportOutbox
import Steps

@main
enum Main {
    static func main() async throws {
        section("Alamofire")
        part("Interceptors")
        try await interceptors()
        part("Tokens")
        try await tokens()
        part("What differs from Alamofire")
        let refusing = ScriptedTerminal { _ in .success(.notFound) }
        show(await outcome(of: HTTPRequest(host: "test"), from: HTTPLoader() --> refusing))
        show(await outcome(of: HTTPRequest(host: "test"), from: Validate() --> refusing))

        section("The series HTTP in Swift")
        let planets = ScriptedTerminal { .success(.ok, body: #"{"name":"\#($0.path)"}"#) }
        let chain = ApplyEnvironment(host: "test") --> planets
        show(try await chain.load(.planet(1)).name)
        part("What differs from the articles")
        let slashes = ApplyEnvironment(host: "test", pathPrefix: "/v1/") --> planets
        show(await outcome(of: HTTPRequest(path: "people"), from: slashes))

        section("Wells")
        try await reports()
        part("Background uploads")
        part("What differs from Wells")
        try await refusedReport()

        section("The InfluxDB client")
        try await points()
        part("What differs from the client")
    }

    static func interceptors() async throws {
        let flaky = MockLoader().then(.serviceUnavailable).then { request, completion in
            completion(
                .success(
                    HTTPResponse(
                        request: request, status: .ok, body: Data((request.headers["X-App-Version"] ?? "").utf8))))
        }
        show(await outcome(of: HTTPRequest(path: "people"), from: makeChain(version: "7", terminal: flaky)))

        let mock = MockLoader().then(.accepted).then(.accepted).then(.ok, body: "done")
        let timers = ManualTimers()
        let waiting = Retry(WhileAtWork(), timers: timers) --> mock
        let loading = Task { await outcome(of: HTTPRequest(host: "test"), from: waiting) }
        for _ in 1...2 {
            await timers.waitForPending(count: 1)
            timers.advance(by: .seconds(2))
        }
        show(await loading.value)
    }

    static func tokens() async throws {
        let terminal = ScriptedTerminal { request in
            if request.path == "/session" { return .success(body: #"{"token":"t2","expiresIn":60}"#) }
            let isAuthorized = request.headers["Authorization"] == "Bearer t2"
            return isAuthorized ? .success(.ok, body: "Ada") : .success(.unauthorized)
        }
        let store = MemoryCredentialStore(BearerToken(accessToken: "t1", refreshToken: "r1"))
        let chain = BearerAuth(hosts: ["api.example.com"], source: SessionTokens(), store: store) --> terminal
        let log = EventLog()
        for _ in 1...5 {
            chain.load(request: HTTPRequest(host: "api.example.com", path: "/me")) { log.note(outcome(of: $0)) }
        }
        await log.waitForEvents(5)
        show(Set(log.events).joined(separator: ", "))
        show("refreshed \(terminal.requests.count { $0.path == "/session" }) time")
    }

    /// Two launches of an app, the first of which has no network.
    static func reports() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "crash-1.log")
            try Data("a crash".utf8).write(to: file)
            let box = folder.appending(path: "box")
            do {
                let offline = ScriptedTerminal { _ in .failure(.cannotConnect) }
                try DiagnosticReporter(directory: box, chain: offline)
                    .start(files: [file], reports: [Data("a report".utf8)])
            }
            let server = ScriptedTerminal { _ in .success() }
            let second = try await openWhenFree(box, chain: server)
            show("submitted, and not delivered: \(second.count)")
            second.startSending()
            second.sendNow()
            try await second.delivers(2)
            show("delivered by the second launch: \(server.requests.count), left: \(second.count)")
            await second.close()
        }
    }

    static func refusedReport() async throws {
        try await withFolder { box in
            let outbox = try ReportOutbox(directory: box, chain: ScriptedTerminal(), startsSending: false)
            let request = HTTPRequest(method: .put, host: "d.example.com", headers: ["Authorization": "Bearer t1"])
            do throws(OutboxError) { try outbox.submit(Data("with a secret".utf8), request: request) } catch {
                show("\(error.code)")
            }
            await outbox.close()
        }
    }

    static func points() async throws {
        guard let address = URL(string: "https://influx.example.com") else { return }
        try await withFolder { folder in
            let server = ScriptedTerminal { answer(to: $0) }
            let writer = try makeWriter(
                address, token: "t1", directory: folder.appending(path: "points"), terminal: server)
            writer.write(Point("queue", tags: ["name": "uploads"], fields: ["length": 3, "oldest": 0.25]))
            let uploads = writer.series("queue", tags: ["name": "series"])
            writer.write(uploads) { fields in
                fields.set("length", 3)
                fields.set("oldest", 0.25)
            }
            let report = await writer.flush(within: .seconds(600))
            show("delivered \(report.delivered), rejected \(report.rejected)")
            for line in lines(of: server.requests.last) { show(line) }
            show("Authorization: \(server.requests.last?.headers["Authorization"] ?? "none")")
            show(server.requests.last?.url?.absoluteString ?? "")

            for name in ["good", "poison", "better"] {
                writer.write(Point("queue", tags: ["name": name], fields: ["length": 1]))
            }
            let mixed = await writer.flush(within: .seconds(600))
            show("delivered \(mixed.delivered), rejected \(mixed.rejected): \(mixed.rejections.first?.reason ?? "")")
            show("complete: \(await writer.shutDown(within: .seconds(600)).isComplete)")
        }
    }

    /// The lines of a request without their timestamps, sorted.
    static func lines(of request: HTTPRequest?) -> [String] {
        text(of: request).split(separator: "\n").map { line in
            line.split(separator: " ").dropLast().joined(separator: " ")
        }.sorted()
    }

    static func text(of request: HTTPRequest?) -> String {
        String(decoding: (try? request?.body.encode().data(upTo: 1 << 20)) ?? Data(), as: UTF8.self)
    }

    /// The response of InfluxDB 2 to lines of which it refuses one.
    static func answer(to request: HTTPRequest) -> ScriptedTerminal.Answer {
        guard let bad = text(of: request).split(separator: "\n").first(where: { $0.contains("poison") }) else {
            return .success(.noContent)
        }
        return .success(
            .badRequest, headers: ["Content-Type": "application/json"],
            body: #"{"code":"invalid","message":"unable to parse '\#(bad)': it is poison"}"#)
    }
}

/// Opens an outbox as soon as the previous one has released the directory, as a process that has ended does.
func openWhenFree(_ box: URL, chain: HTTPLoader) async throws -> ReportOutbox {
    while true {
        do throws(OutboxError) { return try ReportOutbox(directory: box, chain: chain, startsSending: false) } catch {
            guard error.code == .inUse else { throw error }
            await Task.yield()
        }
    }
}

extension ReportOutbox {
    /// Waits until `count` reports have been delivered since the outbox was opened.
    func delivers(_ count: Int) async throws {
        var delivered = 0
        for await event in events {
            if case .delivered = event { delivered += 1 }
            if delivered == count { return }
        }
    }
}
