import Foundation
import LoaderChain

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The state of all watched endpoints: a value that is updated by one check after the other.
struct WatchState: Sendable {
    struct Endpoint: Sendable {
        /// The address without secrets.
        let name: String
        /// How many checks ended with a result.
        var checks = 0
        var healthy = 0
        var cancelled = 0
        /// The number of checks that were skipped because the previous check had not ended.
        var missed = 0
        /// The durations of the checks that were answered.
        var latency = LatencyHistogram()
        /// The latest checks, oldest first.
        var recent: [Recent] = []
        var last: WatchVerdict?
        var lastDuration: Duration = .zero
        /// When it last became healthy or unhealthy.
        var since: TimerInstant
        /// How often it became unhealthy, or was so from the start.
        var outages = 0
        /// The total duration of past outages.
        var downtime: Duration = .zero

        /// The result of the last check that had one; nil before the first.
        var isHealthy: Bool? { last?.isHealthy }

        var measured: FailConditions.Measured {
            FailConditions.Measured(name: name, errors: checks - healthy, judged: checks, latency: latency)
        }

        /// The total duration of outages, including a current one.
        func downtime(by now: TimerInstant) -> Duration {
            isHealthy == false ? downtime + since.duration(to: now) : downtime
        }
    }

    struct Recent: Hashable, Sendable {
        let isHealthy: Bool
        let duration: Duration
    }

    enum Change: Hashable, Sendable {
        case wentDown
        /// Healthy again after an outage of this duration.
        case cameBack(Duration)
    }

    static var recentCount: Int { 30 }

    let start: TimerInstant
    private(set) var endpoints: [Endpoint]

    init(_ names: [String], at start: TimerInstant) {
        self.start = start
        endpoints = names.map { Endpoint(name: $0, since: start) }
    }

    /// Whether every endpoint was checked at least once and passed every check.
    var isAllHealthy: Bool { endpoints.allSatisfy { $0.checks > 0 && $0.healthy == $0.checks } }

    var isAnyUnhealthy: Bool { endpoints.contains { $0.healthy < $0.checks } }

    var isAllChecked: Bool { endpoints.allSatisfy { $0.checks > 0 } }

    mutating func note(
        _ verdict: WatchVerdict, duration: Duration, of index: Int, at now: TimerInstant
    ) -> Change? {
        guard endpoints.indices.contains(index) else { return nil }
        guard verdict != .none else {
            endpoints[index].cancelled += 1
            return nil
        }
        let before = endpoints[index].isHealthy
        let isHealthy = verdict.isHealthy
        endpoints[index].checks += 1
        endpoints[index].last = verdict
        endpoints[index].lastDuration = duration
        if isHealthy { endpoints[index].healthy += 1 }
        if case .silent = verdict {} else { endpoints[index].latency.record(duration) }
        endpoints[index].recent.append(Recent(isHealthy: isHealthy, duration: duration))
        let excess = endpoints[index].recent.count - Self.recentCount
        if excess > 0 { endpoints[index].recent.removeFirst(excess) }
        // A first check that passes is not a change.
        guard isHealthy != (before ?? true) else {
            if before == nil { endpoints[index].since = now }
            return nil
        }
        return turn(index, isHealthy: isHealthy, at: now)
    }

    private mutating func turn(_ index: Int, isHealthy: Bool, at now: TimerInstant) -> Change {
        defer { endpoints[index].since = now }
        guard isHealthy else {
            endpoints[index].outages += 1
            return .wentDown
        }
        let outage = endpoints[index].since.duration(to: now)
        endpoints[index].downtime += outage
        return .cameBack(outage)
    }

    mutating func noteMissed(_ count: Int, of index: Int) {
        guard endpoints.indices.contains(index) else { return }
        endpoints[index].missed += count
    }
}

enum WatchVerdict: Hashable, Sendable {
    /// The endpoint answered with an expected status.
    case healthy(HTTPStatus)
    /// The endpoint answered with another status.
    case unexpected(HTTPStatus)
    /// The endpoint did not answer; the reason in a few words.
    case silent(String)
    /// The check was cancelled before it ended.
    case none

    init(_ result: HTTPResult, expected: StatusSet) {
        switch result {
        case .success(let response):
            self = expected.contains(response.status) ? .healthy(response.status) : .unexpected(response.status)
        case .failure(let error) where ResultMeaning(error.code) == .stopped: self = .none
        case .failure(let error): self = .silent(Self.words(error))
        }
    }

    var isHealthy: Bool {
        if case .healthy = self { true } else { false }
    }

    /// The status, or the reason why there is none.
    var text: String {
        switch self {
        case .healthy(let status), .unexpected(let status): "\(status.rawValue)"
        case .silent(let words): words
        case .none: "–"
        }
    }

    private static func words(_ error: HTTPError) -> String {
        switch error.code {
        case .cannotConnect: connectionWords(error)
        case .connectionLost: "connection lost"
        case .timedOut, .deadlineExceeded: "timed out"
        case .insecureConnection: "no secure connection"
        case .invalidResponse: "no HTTP response"
        case .responseTooLarge: "response too large"
        case .tooManyRedirects: "too many redirects"
        default: error.code.rawValue
        }
    }

    /// Why there was no connection, if the system says.
    private static func connectionWords(_ error: HTTPError) -> String {
        let code = (error.underlyingError as? URLError)?.code
        let reason = (error.reason ?? "").lowercased()
        // Several words of each message, since the name of a host in it may be one of them.
        func says(_ parts: String...) -> Bool { parts.contains(where: reason.contains) }
        if code == .cannotFindHost || code == .dnsLookupFailed || says("could not resolve", "couldn't resolve") {
            return "DNS failure"
        }
        if reason.contains("timed out") { return "timed out" }
        if says("route to host", "is unreachable", "network unreachable") { return "no route to host" }
        return code == .cannotConnectToHost || says("connection refused") ? "connection refused" : "cannot connect"
    }
}
