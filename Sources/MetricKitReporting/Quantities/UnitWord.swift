struct UnitWord: Hashable, Sendable {
    /// A quantity, with its unit in the model.
    enum Quantity: Hashable, Sendable {
        /// In seconds.
        case time
        /// In bytes.
        case bytes
        /// In bars of a signal.
        case bars
        /// In units of average pixel luminance.
        case luminance
        /// In instructions.
        case instructions
        /// In milliseconds of hitches for each second.
        case hitchRatio
    }

    let quantity: Quantity
    /// The conversion to the quantity's unit: a factor and a power of ten.
    let factor: Int
    let power: Int
    /// Whether the unit has no fractions.
    let isWhole: Bool

    init(_ quantity: Quantity, _ power: Int, factor: Int = 1, isWhole: Bool = false) {
        self.quantity = quantity
        self.factor = factor
        self.power = power
        self.isWhole = isWhole
    }

    /// Converts an amount to the quantity's unit.
    func amount(_ number: DecimalNumber) -> DecimalNumber? {
        (factor == 1 ? number : number.multiplied(by: factor))?.scaled(by: power)
    }

    /// The units by the symbols that ``UnitNames`` has for them.
    static let bySymbol: [String: UnitWord] = [
        "ns": UnitWord(.time, -9), "us": UnitWord(.time, -6), "ms": UnitWord(.time, -3), "s": UnitWord(.time, 0),
        "min": UnitWord(.time, 0, factor: 60), "h": UnitWord(.time, 0, factor: 3600),
        "B": UnitWord(.bytes, 0, isWhole: true), "kB": UnitWord(.bytes, 3), "MB": UnitWord(.bytes, 6),
        "GB": UnitWord(.bytes, 9), "TB": UnitWord(.bytes, 12),
    ]
}
