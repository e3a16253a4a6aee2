import LoaderChain
import LoaderChainPlatformC

// The algorithms that servers use, written for the comparison from their published descriptions, with their published constants.
// Limits start at the same number as the adaptive one, and may be from 1 to 1,000.

private func bounded(_ limit: Double) -> Double { min(1_000, max(1, limit)) }

/// One more for each response while the limit is used, a tenth less for each refusal.
struct AIMDLimit: SimulatedLimit {
    static let name = "AIMD"
    private var limit: Double

    init(initial: Int) { limit = Double(initial) }

    var current: Int { Int(limit) }

    mutating func begin() -> UInt32 { 0 }

    mutating func end(_ request: EndedRequest, at now: Double) {
        if request.isRefused || request.seconds > 5 {
            limit *= 0.9
        } else if Double(2 * request.inFlight) >= limit {
            limit += 1
        }
        limit = bounded(limit)
    }
}

/// Keeps a few requests in the server's queue, which it estimates from the shortest time seen.
struct VegasLimit: SimulatedLimit {
    static let name = "Vegas"
    private var limit: Double
    private var shortest = Double.infinity
    private var responses = 0.0
    private var responsesBeforeForgetting = 600.0
    private let random = RandomSource(seed: 7)

    init(initial: Int) { limit = Double(initial) }

    var current: Int { Int(limit) }

    mutating func begin() -> UInt32 { 0 }

    mutating func end(_ request: EndedRequest, at now: Double) {
        responses += 1
        if responses > responsesBeforeForgetting {
            responses = 0
            responsesBeforeForgetting = 30 * limit * (0.5 + random.unit() / 2)
            shortest = request.seconds
        } else if request.seconds < shortest, !request.isRefused {
            shortest = request.seconds
        } else {
            move(request)
        }
        limit = bounded(limit)
    }

    private mutating func move(_ request: EndedRequest) {
        let step = max(1, log10(limit).rounded(.down))
        if request.isRefused {
            limit -= step
        } else if Double(2 * request.inFlight) >= limit {
            let queue = (limit * (1 - shortest / request.seconds)).rounded(.up)
            if queue <= step {
                limit += 6 * step
            } else if queue < 3 * step {
                limit += step
            } else if queue > 6 * step {
                limit -= step
            }
        }
    }
}

/// Compares each time with a long mean, and grows while it is not much longer; ignores refusals.
struct Gradient2Limit: SimulatedLimit {
    static let name = "Gradient2"
    private var limit: Double
    private var mean = 0.0
    private var responses = 0.0

    init(initial: Int) { limit = Double(initial) }

    var current: Int { Int(limit) }

    mutating func begin() -> UInt32 { 0 }

    mutating func end(_ request: EndedRequest, at now: Double) {
        guard !request.isRefused else { return }
        responses += 1
        mean += (request.seconds - mean) * (responses > 10 ? 2 / 601 : 1 / responses)
        if mean > 2 * request.seconds { mean *= 0.95 }
        guard Double(2 * request.inFlight) >= limit else { return }
        let gradient = max(0.5, min(1, 1.5 * mean / request.seconds))
        limit = bounded(0.8 * limit + 0.2 * (gradient * limit + 4))
    }
}
