/// A kind of load.
struct Kind: Sendable {
    let name: String
    let make: @Sendable (Ledger, _ seed: UInt64) -> Rig

    static let all = [
        chain, requests, environment, attempts, hedging, retry, throttle, rateLimit, deduplicate, authentication,
        metrics,
        async, everything,
    ]
}
