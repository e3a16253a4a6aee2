#if os(Linux)
    import BenchmarkSupport
    import CurlPeer
    import Dispatch
    import Foundation
    import LoaderChain
    import LoaderChainCurl
    import LoaderChainTesting
    import LoaderChainURLSession
    import TestServers

    /// The terminal over libcurl beside a bare loop over the same library in C; both load from an nginx of this machine, or without
    /// nginx from a server of this process, which takes longer than both.
    func curlBenchmarks() -> [Benchmark] {
        guard CurlLoader.isAvailable else { return [] }
        let suite = Suite()
        for (inFlight, mostAsync) in [(1, 1 / 0.75), (16, 1 / 0.85), (64, 1.0)] {
            suite.add("peer/libcurl-\(inFlight)", "Loads 100 bytes with a loop over libcurl in C, \(inFlight) at once.")
            {
                CurlSite.shared.warm { iterations in
                    let failed = curl_peer_load(
                        CurlSite.shared.url.absoluteString, Int32(inFlight), iterations, CurlSite.text.utf8.count)
                    precondition(failed == 0, "\(failed) loads failed")
                }
            }
            suite.add(
                "terminal/curl-\(inFlight)",
                "Loads 100 bytes with a CurlLoader that completes on its own thread, \(inFlight) at once.",
                peer: "peer/libcurl-\(inFlight)", ratio: 1 / 0.85
            ) {
                var configuration = CurlConfiguration()
                configuration.completesOnCarryingThread = true
                let loader = CurlLoader(configuration: configuration)
                return CurlSite.shared.warm { CurlSite.shared.load($0, inFlight, with: loader) }
            }
            suite.add(
                "terminal/curl-handlers-\(inFlight)",
                "Loads 100 bytes with a CurlLoader and completion handlers, \(inFlight) at once.",
                peer: "peer/libcurl-\(inFlight)", ratio: 1 / 0.85
            ) {
                let loader = CurlLoader()
                return CurlSite.shared.warm { CurlSite.shared.load($0, inFlight, with: loader) }
            }
            suite.add(
                "terminal/curl-async-\(inFlight)",
                "Loads 100 bytes with a CurlLoader of two threads and \(inFlight) Swift tasks.",
                peer: "peer/libcurl-\(inFlight)", ratio: mostAsync
            ) {
                var configuration = CurlConfiguration()
                configuration.threads = inFlight == 1 ? 1 : 2
                let loader = CurlLoader(configuration: configuration)
                return CurlSite.shared.warm { CurlSite.shared.loadAsync($0, inFlight, with: loader) }
            }
        }
        suite.add(
            "terminal/urlsession-16", "Loads the same 100 bytes with a URLSessionLoader, 16 at once.",
            peer: "terminal/curl-handlers-16"
        ) {
            let loader = URLSessionLoader(configuration: .ephemeral)
            return CurlSite.shared.warm { CurlSite.shared.load($0, 16, with: loader) }
        }
        suite.add(
            "terminal/curl-silent-1000",
            "Loads 100 bytes with a CurlLoader, 16 at once, beside 1,000 requests whose server says nothing.",
            peer: "terminal/curl-handlers-16", ratio: 1 / 0.6
        ) {
            let loader = CurlLoader(requestsPerHost: 2_000)
            let silent = SilentRequests(1_000, with: loader)
            return CurlSite.shared.warm { iterations in
                CurlSite.shared.load(iterations, 16, with: loader)
                withExtendedLifetime(silent) {}
            }
        }
        return suite.benchmarks
    }

    /// A server, and loads from it.
    private final class CurlSite: Sendable {
        static let text = String(String(repeating: "hello there ", count: 9).prefix(100))
        static let shared = CurlSite()

        let url: URL
        private let servers: (NginxServer?, LoopbackServer?)
        private let request: HTTPRequest

        private init() {
            do {
                if let nginx = try NginxServer(workers: 2, "location / { return 200 \"\(Self.text)\"; }") {
                    (url, servers) = (nginx.base.appending(path: ""), (nginx, nil))
                } else {
                    let server = try LoopbackServer()
                    server.fallback { _ in .ok(Self.text) }
                    (url, servers) = (server.url("/"), (nil, server))
                }
            } catch {
                preconditionFailure("no server could be started: \(error)")
            }
            request = HTTPRequest(url: url)
        }

        /// Runs a row until its server runs and all its connections are open, so that calibration sees what the samples will.
        func warm(_ run: @escaping (Int) -> Void) -> (Int) -> Void {
            run(5_000)
            return run
        }

        func load(_ iterations: Int, _ inFlight: Int, with loader: HTTPLoader) {
            keepInFlight(inFlight, of: iterations) { [request] done in
                loader.load(request: request) { result in
                    precondition(result.response?.body.count == Self.text.utf8.count, "\(result)")
                    done()
                }
            }
        }

        func loadAsync(_ iterations: Int, _ inFlight: Int, with loader: HTTPLoader) {
            let isDone = DispatchSemaphore(value: 0)
            Task { [request] in
                await withTaskGroup(of: Void.self) { group in
                    for index in 0..<inFlight {
                        group.addTask {
                            for _ in stride(from: index, to: iterations, by: inFlight) {
                                let response = try? await loader.load(request)
                                precondition(response?.body.count == Self.text.utf8.count)
                            }
                        }
                    }
                }
                isDone.signal()
            }
            isDone.wait()
        }
    }

    /// Requests that wait for a server that takes them and says nothing.
    private final class SilentRequests: Sendable {
        private let server: SilentServer
        private let tasks: [HTTPTask]

        init(_ count: Int, with loader: HTTPLoader) {
            guard let server = try? SilentServer() else { preconditionFailure("no server could be started") }
            self.server = server
            var request = HTTPRequest(url: server.url)
            request.timeout = .seconds(3_600)
            tasks = (0..<count).map { _ in loader.load(request: request) { _ in } }
        }

        deinit { for task in tasks { task.cancel() } }
    }
#else
    import BenchmarkSupport

    /// None: this terminal is for Linux.
    func curlBenchmarks() -> [Benchmark] { [] }
#endif
