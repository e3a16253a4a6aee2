import LoaderChain

/// How many requests each route had and how many of them failed, to find the most important routes.
///
/// Its size is bounded: when it is full, a route that fails takes the place of one that does not.
struct RouteCensus: Sendable {
    typealias Key = ReportModel.Key

    private struct Count {
        var requests = 0
        var failures = 0
    }

    private let limit: Int
    private var counts: [Key: Count] = [:]
    /// The routes whose first request did not fail; only the last one is looked at, so that a new route costs no search.
    private var replaceable: [Key] = []
    /// Whether there was no room for all routes.
    private(set) var isIncomplete = false

    init(limit: Int) { self.limit = limit }

    /// The number of routes that it knows.
    var count: Int { counts.count }

    mutating func note(_ key: Key, _ kind: HTTPMetric.Outcome.Kind) {
        if counts[key] == nil {
            if counts.count >= limit {
                isIncomplete = true
                guard kind.isError, replaceOne() else { return }
            }
            if !kind.isError { replaceable.append(key) }
        }
        counts[key, default: Count()].requests += 1
        if kind.isError { counts[key, default: Count()].failures += 1 }
    }

    /// Those with most failures, and of these those with most requests.
    func mostImportant(_ number: Int) -> Set<Key> {
        let ranked = counts.sorted {
            ($1.value.failures, $1.value.requests, $0.key) < ($0.value.failures, $0.value.requests, $1.key)
        }
        return Set(ranked.prefix(number).map(\.key))
    }

    /// Forgets a route that does not fail, and returns whether there was one.
    private mutating func replaceOne() -> Bool {
        while let key = replaceable.popLast() {
            // It may have failed since its first request.
            guard counts[key]?.failures == 0 else { continue }
            counts[key] = nil
            return true
        }
        return false
    }
}
