/// The hedges that the requests have paid for: a share of each, saved up to a small number.
///
/// It begins with nothing, so that there are never more hedges than the share of all requests. Everything is counted in
/// millionths of a hedge, so that rounding errors do not add up.
struct HedgeShare: Sendable {
    private static var price: Int64 { 1_000_000 }

    private let deposit: Int64
    private let most: Int64
    private var saved: Int64 = 0

    /// Makes a budget of `share` hedges per request, of which at most `burst` are saved.
    init(share: Double, burst: Int) {
        let share = share.isNaN ? 0 : min(max(0, share), 1)
        deposit = Int64((share * Double(Self.price)).rounded())
        // Larger settings amount to no limit, and with these no product overflows.
        most = Int64(min(max(0, burst), Int(Int32.max))) * Self.price
    }

    /// How many hedges are possible.
    var remaining: Int { Int(saved / Self.price) }

    /// Notes a request, which pays for a part of a hedge.
    mutating func noteRequest() { saved = min(most, saved + deposit) }

    /// Takes a hedge, and returns whether there was one.
    mutating func take() -> Bool {
        guard saved >= Self.price else { return false }
        saved -= Self.price
        return true
    }

    /// Gives back a hedge that was not sent.
    mutating func giveBack() { saved = min(most, saved + Self.price) }
}
