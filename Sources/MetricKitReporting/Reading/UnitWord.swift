/// A word behind a number that says what is counted.
struct UnitWord: Hashable, Sendable {
    /// What is measured, each with the unit that the model has it in.
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
    /// How much of the quantity's unit one of this unit is: a factor, and a power of ten.
    let factor: Int
    let power: Int
    /// Whether there are no fractions of it.
    let isWhole: Bool
    /// The mark before fractions in the language of the word, if the word tells.
    let decimal: NumberText.Mark?

    private init(
        _ quantity: Quantity, _ power: Int, factor: Int = 1, isWhole: Bool = false, decimal: NumberText.Mark? = nil
    ) {
        self.quantity = quantity
        self.factor = factor
        self.power = power
        self.isWhole = isWhole
        self.decimal = decimal
    }

    /// Looks a word up; nil if it is not known, since a guess would be a wrong number.
    init?(_ word: some StringProtocol) {
        guard let unit = Self.words[String(word)] else { return nil }
        self = unit
    }

    /// How much of the quantity's unit so many of these are.
    func amount(_ number: DecimalNumber) -> DecimalNumber? {
        (factor == 1 ? number : number.multiplied(by: factor))?.scaled(by: power)
    }

    private static let words: [String: UnitWord] = {
        var words: [String: UnitWord] = [:]
        func add(_ unit: UnitWord, _ names: String...) { for name in names { words[name] = unit } }

        // The names as systems write them, and what languages make of them. A word of Chinese, Japanese or Korean comes with
        // a decimal point, wherever its reader lives, and one of Russian or Ukrainian with a decimal comma.
        add(UnitWord(.time, -9), "ns")
        add(UnitWord(.time, -6), "µs", "μs", "us")
        add(
            UnitWord(.time, -3), "ms", "msec", "msec.", "msecs", "msecs.", "msek", "msek.", "millisecond",
            "milliseconds", "msn")
        add(UnitWord(.time, -3), "ملي ث", "مللي ثانية", "مللي ث")
        add(UnitWord(.time, -3, decimal: .point), "毫秒", "ミリ秒", "밀리초")
        add(UnitWord(.time, -3, decimal: .comma), "мс", "мсек", "мсек.")
        add(
            UnitWord(.time, 0), "s", "s.", "sec", "sec.", "secs", "secs.", "second", "seconds", "Sek.", "sek", "sek.",
            "seg", "seg.", "sn", "sn.")
        add(UnitWord(.time, 0), "ث", "ثانية", "ثوان", "से॰", "से.")
        add(UnitWord(.time, 0, decimal: .point), "秒", "秒鐘", "초")
        add(UnitWord(.time, 0, decimal: .comma), "с", "с.", "сек", "сек.")
        add(UnitWord(.time, 0, factor: 60), "min", "min.", "mins", "mins.")
        add(UnitWord(.time, 0, factor: 3600), "h", "hr", "hrs", "hr.", "hrs.")

        add(UnitWord(.bytes, 0, isWhole: true), "B", "byte", "bytes", "Byte", "Bytes", "octet", "octets", "بايت")
        add(UnitWord(.bytes, 0, isWhole: true, decimal: .point), "字节", "位元組", "バイト", "바이트")
        add(UnitWord(.bytes, 0, isWhole: true, decimal: .comma), "Б", "байт", "байта", "байтов")
        for (power, latin, french, cyrillic, han) in [
            (3, "kB", "ko", "кБ", "千字节"), (6, "MB", "Mo", "МБ", "兆字节"), (9, "GB", "Go", "ГБ", "吉字节"),
        ] {
            add(UnitWord(.bytes, power), latin)
            add(UnitWord(.bytes, power, decimal: .comma), french, cyrillic)
            add(UnitWord(.bytes, power, decimal: .point), han)
        }

        add(UnitWord(.bars, 0, isWhole: true), "bar", "bars")
        add(UnitWord(.luminance, 0), "apl")
        add(UnitWord(.instructions, 3), "kiloinstructions")
        add(UnitWord(.instructions, 0), "instructions")
        add(UnitWord(.hitchRatio, 0), "ms per s", "ms/s")
        return words
    }()
}
