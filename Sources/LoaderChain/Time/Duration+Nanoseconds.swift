extension Duration {
    /// The duration in nanoseconds, rounded up so that no wait is too short.
    package var wholeNanoseconds: Int128 {
        // Dividing 128 bits takes longer than reading a clock. What is not negative, and shorter than an hour, is divided as
        // 64 bits: in two steps, because a nanosecond has 2⁹ · 5⁹ attoseconds, and each rounds up.
        if let parts = Int64(exactly: (attoseconds &+ 511) >> 9), parts >= 0 {
            let (nanoseconds, fraction) = parts.quotientAndRemainder(dividingBy: 1_953_125)
            return Int128(fraction > 0 ? nanoseconds + 1 : nanoseconds)
        }
        return wholeNanosecondsOfAnyDuration
    }

    @inline(never)
    private var wholeNanosecondsOfAnyDuration: Int128 {
        let (nanoseconds, fraction) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return fraction > 0 ? nanoseconds + 1 : nanoseconds
    }

    /// The duration in nanoseconds, or the nearest number that 64 bits hold.
    package var saturatedNanoseconds: Int64 { Int64(clamping: wholeNanoseconds) }
}
