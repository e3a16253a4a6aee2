extension Duration {
    /// The duration in nanoseconds, rounded up so that no wait is too short.
    package var wholeNanoseconds: Int128 {
        let (nanoseconds, fraction) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return fraction > 0 ? nanoseconds + 1 : nanoseconds
    }

    /// The duration in nanoseconds, or the nearest number that 64 bits hold.
    package var saturatedNanoseconds: Int64 { Int64(clamping: wholeNanoseconds) }
}
