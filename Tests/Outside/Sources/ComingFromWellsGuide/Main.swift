import Foundation
import LoaderChain
import LoaderChainTesting
import ReportOutbox
import Steps

@main
enum Main {
    static func main() async throws {
        section("Files, data, and reports of earlier launches")
        try await withFolder { folder in
            let file = folder.appending(path: "crash-1.log")
            try Data("a crash".utf8).write(to: file)
            let box = folder.appending(path: "box")

            // The first launch has no network.
            do {
                let offline = ScriptedTerminal { _ in .failure(.cannotConnect) }
                try DiagnosticReporter(directory: box, chain: offline)
                    .start(files: [file], reports: [Data("a report".utf8)])
            }
            let server = ScriptedTerminal { _ in .success() }
            let second = try await openWhenFree(box, chain: server)
            show("submitted, and not delivered: \(second.count)")
            // The network is back.
            second.startSending()
            second.tryNow()
            try await second.delivers(2)
            show("delivered by the second launch: \(server.requests.count), left: \(second.count)")
            await second.close()
        }

        section("Reviewing reports of earlier launches")
        try await withFolder { box in
            let first = try ReportOutbox(directory: box, chain: ScriptedTerminal(), startsSending: false)
            for text in ["old", "new"] {
                try first.submit(
                    Data(text.utf8), identifier: text, request: HTTPRequest(method: .put, host: "d.example.com"))
            }
            await first.close()
            let server = ScriptedTerminal { _ in .success() }
            let second = try ReportOutbox(
                directory: box, chain: server, existing: { $0.id.rawValue == "old" ? .drop : .keep })
            try await second.delivers(1)
            show(
                "delivered \(server.requests.count), dropped by the handler \(second.counters.dropped.values.reduce(0, +))"
            )
            await second.close()
        }

        section("Keeping the files yourself")
        try await withFolder { folder in
            let file = folder.appending(path: "crash-2")
            try Data("kept".utf8).write(to: file)
            var settings = OutboxSettings()
            settings.locations = CrashFolder(folder: folder)
            let server = ScriptedTerminal { _ in .success() }
            let outbox = try ReportOutbox(directory: folder.appending(path: "box"), chain: server, settings: settings)
            let request = HTTPRequest(method: .put, host: "d.example.com")
            try outbox.submit(fileAt: file, identifier: "crash-2", request: request)
            try await outbox.delivers(1)
            await outbox.close()
            show("the file is there: \(FileManager.default.fileExists(atPath: file.path()))")
        }

        section("Retries")
        try await withFolder { box in
            var settings = OutboxSettings()
            settings.maximumAge = .seconds(7 * 24 * 3600)
            settings.maximumAttempts = 20
            settings.firstDelay = .zero
            settings.outcomes[.notFound] = .retry
            let server = MockLoader().then(.notFound).then(.ok)
            let outbox = try ReportOutbox(directory: box, chain: server, settings: settings)
            try outbox.submit(Data("again".utf8), request: HTTPRequest(method: .put, host: "d.example.com"))
            try await outbox.delivers(1)
            show("delivered \(outbox.counters.delivered)")
            await outbox.close()
        }

        section("Background uploads")
        section("With MetricKit")
        section("Differences")
        try await withFolder { box in
            let outbox = try ReportOutbox(directory: box, chain: ScriptedTerminal(), startsSending: false)
            let request = HTTPRequest(method: .put, host: "d.example.com", headers: ["Authorization": "Bearer t1"])
            do throws(OutboxError) { try outbox.submit(Data("with a secret".utf8), request: request) } catch {
                show("\(error.code)")
            }
            await outbox.close()
        }
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
