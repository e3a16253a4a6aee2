#if os(Linux) || os(macOS)
    import Dispatch
    import DurableFilesTesting
    import Foundation
    import LoaderChain
    import LoaderChainTesting
    import TestServers
    import TestSizes
    import Testing

    @testable import LoaderChainURLSession

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// Streams and downloads over connections that are idle or break.
    @Suite(.timeLimit(.minutes(10)), .everyTerminal) struct StreamingTests {
        @Test func idleStreamContinuesAndBrokenStreamReconnects() async throws {
            let quiet = DispatchSemaphore(value: 0)
            let heads = Locked<[String]>([])
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
            let server = try LoopbackServer { client in
                guard let asked = client.readHead() else { return }
                switch heads.withLock({ heads in
                    heads.append(asked)
                    return heads.count
                }) {
                case 1:
                    client.send(head + "d\r\nid:1\ndata:a\n\n\r\n")
                    quiet.wait()
                    client.send("d\r\nid:2\ndata:b\n\n\r\n")
                case 2: client.send(head + "8\r\ndata:c\n\n\r\n0\r\n\r\n")
                default: client.send("HTTP/1.1 204 No Content\r\n\r\n")
                }
            }
            let timers = ManualTimers()
            // Its own timeout is a minute.
            let loader = TestedTerminal.makeLoader(timeout: 60, timers: timers)
            var settings = EventStream.Settings()
            settings.idleTime = nil
            (settings.reconnectionTime, settings.maximumDelay) = (.zero, .zero)
            let request = HTTPRequest(scheme: "http", host: "127.0.0.1", port: server.port, path: "/")
            var events = EventStream(request, chain: loader, settings: settings).makeAsyncIterator()
            #expect(try await events.next() == ServerSentEvent(data: "a", id: "1"))
            timers.advance(by: .seconds(3_600))
            quiet.signal()
            #expect(try await events.next() == ServerSentEvent(data: "b", id: "2"))
            #expect(try await events.next() == ServerSentEvent(data: "c", id: "2"))
            #expect(try await events.next() == nil)
            let asked = heads.withLock { $0 }
            // Sessions change the case of names.
            #expect(asked.map { $0.lowercased().contains("last-event-id: 2\r\n") } == [false, true, true])
        }

        @Test func headIsNotedBeforeBodyArrives() async throws {
            let gate = DispatchSemaphore(value: 0)
            let server = try LoopbackServer { client in
                guard client.readHead() != nil else { return }
                client.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\nhe")
                gate.wait()
                client.send("llo")
            }
            let loader = TestedTerminal.makeLoader()
            let task = HTTPTask(
                request: HTTPRequest(scheme: "http", host: "127.0.0.1", port: server.port, path: "/"))
            let (results, continuation) = AsyncStream.makeStream(of: HTTPResult.self)
            task.addCompletionHandler { continuation.yield($0) }
            loader.load(task: task)
            try await eventually("the head is noted") { task.hasHead }
            #expect(!task.isCompleted)
            gate.signal()
            #expect(await results.first { _ in true }?.response?.body == Data("hello".utf8))
        }

        @Test func downloadResumesAfterLostConnection() async throws {
            let bytes = pattern(300_000)
            let heads = Locked<[String]>([])
            let server = try LoopbackServer { client in
                guard let asked = client.readHead() else { return }
                heads.withLock { $0.append(asked) }
                let start = asked.firstMatch(of: /Range: bytes=(\d+)-/).flatMap { Int($0.1) }
                let rest = bytes[(start ?? 0)...]
                let range = start.map { "Content-Range: bytes \($0)-\(bytes.count - 1)/\(bytes.count)\r\n" }
                client.send(
                    "HTTP/1.1 \(start == nil ? "200 OK" : "206 Partial Content")\r\nETag: \"1\"\r\n"
                        + "Content-Length: \(rest.count)\r\n\(range ?? "")\r\n")
                client.send(Array(start == nil ? rest.prefix(150_000) : rest))
            }
            let folder = try TemporaryDirectory()
            let file = try folder.file("film")
            var settings = ResumableDownload.Settings()
            settings.firstDelay = .zero
            var request = HTTPRequest(scheme: "http", host: "127.0.0.1", port: server.port, path: "/")
            request.delivery = .file(file)
            let chain = ResumableDownload(settings) --> TestedTerminal.makeLoader()
            let response = try await chain.load(request)
            #expect(response.status == .ok && response.file == file)
            #expect(try Data(contentsOf: file) == bytes)
            let asked = heads.withLock { $0 }
            #expect(asked.count == 2)
            #expect(asked.last?.contains("If-Range: \"1\"\r\n") == true)
        }
    }
#endif
