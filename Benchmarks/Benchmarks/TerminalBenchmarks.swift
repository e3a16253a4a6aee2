import BenchmarkSupport
import Dispatch
import Foundation
import LoaderChain
import LoaderChainTesting
import LoaderChainURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The terminal beside a bare session with a delegate, over the same server.
///
/// The server is in this process, unless the environment variable `BENCHMARK_SERVER` has the address of another. Both sides
/// take turns, so that other load on the machine affects both.
func terminalBenchmarks() -> [Benchmark] {
    let suite = Suite()
    // At least 95 % of the throughput of a bare session.
    let mostBesideABareSession = 1 / 0.95
    for inFlight in [1, 16, 64] {
        suite.add(
            "peer/bare-urlsession-\(inFlight)",
            "Loads 11 bytes with a URLSession whose delegate collects them, \(inFlight) at once."
        ) {
            let site = BenchmarkSite()
            let session = BareSession()
            return { iterations in
                keepInFlight(inFlight, of: iterations) { session.load(site.url, $0) }
                withExtendedLifetime(site) {}
            }
        }
        suite.add(
            "terminal/in-flight-\(inFlight)",
            "Loads 11 bytes with a URLSessionLoader, \(inFlight) at once.",
            peer: "peer/bare-urlsession-\(inFlight)", ratio: mostBesideABareSession
        ) {
            let site = BenchmarkSite()
            let loader = URLSessionLoader(configuration: .ephemeral)
            let request = HTTPRequest(url: site.url)
            return { iterations in
                keepInFlight(inFlight, of: iterations) { done in
                    loader.load(request: request) { result in
                        precondition(result.response?.body.count == 11, "\(result)")
                        done()
                    }
                }
                withExtendedLifetime(site) {}
            }
        }
    }
    return suite.benchmarks
}

private final class BenchmarkSite: Sendable {
    let url: URL
    private let server: LoopbackServer?

    init() {
        if let named = ProcessInfo.processInfo.environment["BENCHMARK_SERVER"].flatMap(URL.init(string:)) {
            (url, server) = (named, nil)
            return
        }
        do {
            let server = try LoopbackServer()
            server.fallback { _ in .ok("hello there") }
            url = server.url("/")
            self.server = server
        } catch {
            preconditionFailure("no server could be started: \(error)")
        }
    }
}

/// Keeps a number of loads in flight, each of which starts the next when it is done, and returns when all are done.
func keepInFlight(
    _ inFlight: Int, of total: Int, _ load: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
) {
    let left = Locked((toStart: total, toEnd: total))
    let isDone = DispatchSemaphore(value: 0)
    @Sendable func start() {
        let starts = left.withLock { left in
            guard left.toStart > 0 else { return false }
            left.toStart -= 1
            return true
        }
        guard starts else { return }
        load {
            let isLast = left.withLock { left in
                left.toEnd -= 1
                return left.toEnd == 0
            }
            if isLast { isDone.signal() } else { start() }
        }
    }
    for _ in 0..<inFlight { start() }
    isDone.wait()
}

/// Plain code of an app that uses a session with a delegate.
private final class BareSession: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private struct Load {
        var body = Data()
        let done: @Sendable () -> Void
    }
    private let loads = Locked<[Int: Load]>([:])
    private let session = Locked<URLSession?>(nil)

    override init() {
        super.init()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        let made = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        session.withLock { $0 = made }
    }

    func load(_ url: URL, _ done: @escaping @Sendable () -> Void) {
        guard let task = session.withLock({ $0 })?.dataTask(with: url) else { return }
        let number = task.taskIdentifier
        loads.withLock { $0[number] = Load(done: done) }
        task.resume()
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let number = dataTask.taskIdentifier
        loads.withLock { $0[number]?.body.append(data) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let number = task.taskIdentifier
        let load = loads.withLock { $0.removeValue(forKey: number) }
        precondition(error == nil && load?.body.count == 11, "\(String(describing: error))")
        load?.done()
    }
}
