import LoaderChain
import LoaderChainTesting

/// The demo API: a real server on a loopback socket that no other machine can reach.
final class DemoServer: Sendable {
    private let server: LoopbackServer

    /// Starts the server.
    ///
    /// - Parameters:
    ///   - seed: the seed of its faults and delays.
    ///   - outage: how long the payments endpoint is down.
    init(seed: UInt64, outage: Duration, timers: any Timers) throws(ProgramError) {
        do {
            server = try LoopbackServer()
        } catch {
            throw ProgramError(.failure, "the demo API cannot listen on 127.0.0.1: \(Plain.text("\(error)"))")
        }
        let random = RandomSource(seed: ~seed)
        let start = timers.now
        server.fallback { request in
            // Every article has its own path.
            guard request.path.hasPrefix("/v1/articles/") else { return .status(.notFound) }
            let delay = random.duration(in: .milliseconds(2)...(.milliseconds(14)))
            return .json(#"{"title":"Why we wait"}"#).delayed(delay)
        }
        server.route("/v1/search") { _ in
            .json(#"{"found":[]}"#).delayed(random.duration(in: .milliseconds(120)...(.milliseconds(700))))
        }
        server.route("/v1/cart", method: .put) { _ in
            let roll = random.unit()
            let delay = random.duration(in: .milliseconds(8)...(.milliseconds(40)))
            if roll < 0.06 { return .hangUp().delayed(delay) }
            return roll < 0.3 ? .status(.serviceUnavailable).delayed(delay) : .json("{}").delayed(delay)
        }
        let ration = Locked(DemoRation(perSecond: 6, at: start))
        server.route("/v1/rates") { _ in
            let now = timers.now
            let isGranted = ration.withLock { $0.take(at: now) }
            let delay = random.duration(in: .milliseconds(4)...(.milliseconds(20)))
            return isGranted
                ? .json(#"{"EUR":1}"#).delayed(delay) : LoopbackReply(.tooManyRequests).header("Retry-After", "1")
        }
        let end = start.advanced(by: outage)
        server.route("/v1/payments") { _ in
            let delay = random.duration(in: .milliseconds(5)...(.milliseconds(30)))
            return timers.now < end ? .status(.internalServerError).delayed(delay) : .json("{}").delayed(delay)
        }
    }

    var port: Int { server.port }

    func stop() { server.stop() }
}

/// Counts requests in a fixed window of one second.
struct DemoRation {
    private let perSecond: Int
    private var second: TimerInstant
    private var taken = 0

    init(perSecond: Int, at now: TimerInstant) {
        self.perSecond = perSecond
        second = now
    }

    mutating func take(at now: TimerInstant) -> Bool {
        if second.duration(to: now) >= .seconds(1) {
            second = now
            taken = 0
        }
        guard taken < perSecond else { return false }
        taken += 1
        return true
    }
}
