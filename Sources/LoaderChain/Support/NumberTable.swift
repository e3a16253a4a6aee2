/// Values by number, for numbers that a counter hands out.
///
/// A dictionary defends itself against keys that an attacker has chosen, and every look-up pays for that. Nobody chooses
/// these, so one multiplication scatters them well enough. A value lies at the place that its number scatters to, or
/// behind it with no free place in between.
struct NumberTable<Value> {
    private var numbers: [UInt64]
    private var values: [Value?]
    private var shift: UInt64
    private(set) var count = 0

    private static var smallest: Int { 16 }
    /// Marks a free place; a counter that starts at zero does not live to see it.
    private static var free: UInt64 { .max }

    init() { self.init(places: Self.smallest) }

    /// `places` is a power of two.
    private init(places: Int) {
        numbers = Array(repeating: Self.free, count: places)
        values = (0..<places).map { _ in nil }
        shift = UInt64(64 - places.trailingZeroBitCount)
    }

    var isEmpty: Bool { count == 0 }

    /// All values, in no order.
    var all: some Sequence<Value> { values.lazy.compactMap { $0 } }

    /// Puts `value` at `number`, in the place of the one that may be there.
    mutating func insert(_ value: consuming Value, at number: UInt64) {
        if count >= numbers.count / 4 * 3 { move(toPlaces: numbers.count * 2) }
        let place = self.place(of: number)
        if numbers[place] == Self.free { count += 1 }
        numbers[place] = number
        values[place] = value
    }

    /// Takes out the value at `number`.
    @discardableResult
    mutating func remove(_ number: UInt64) -> Value? {
        var hole = place(of: number)
        guard numbers[hole] == number else { return nil }
        let removed = values[hole].take()
        count -= 1
        // Whoever follows without a gap moves up, unless that would put it before the place it belongs to.
        var next = following(hole)
        while numbers[next] != Self.free {
            if distance(from: home(of: numbers[next]), to: next) >= distance(from: hole, to: next) {
                numbers[hole] = numbers[next]
                values[hole] = values[next].take()
                hole = next
            }
            next = following(next)
        }
        numbers[hole] = Self.free
        // A burst does not leave its memory behind.
        if numbers.count > Self.smallest, count < numbers.count / 8 { move(toPlaces: numbers.count / 2) }
        return removed
    }

    /// Where `number` is, or the free place where it would be.
    private func place(of number: UInt64) -> Int {
        var place = home(of: number)
        while numbers[place] != number, numbers[place] != Self.free { place = following(place) }
        return place
    }

    private func home(of number: UInt64) -> Int {
        // The golden ratio's bits keep neighbours apart, and the high bits of the product depend on all of the number's.
        Int(truncatingIfNeeded: (number &* SplitMix64.step) >> shift)
    }

    private func following(_ place: Int) -> Int { (place + 1) & (numbers.count - 1) }

    private func distance(from first: Int, to last: Int) -> Int { (last - first) & (numbers.count - 1) }

    private mutating func move(toPlaces places: Int) {
        var moved = NumberTable(places: places)
        for (place, number) in numbers.enumerated() {
            if let value = values[place].take() { moved.insert(value, at: number) }
        }
        self = moved
    }
}
