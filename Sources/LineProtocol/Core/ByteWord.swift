// Core: the unsafe core of the encoder. Depends on Model and Policy; Encoding and Decoding may use it.

/// Eight bytes that are looked at together.
enum ByteWord {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let tops: UInt64 = 0x8080_8080_8080_8080
    private static let lows: UInt64 = 0x7F7F_7F7F_7F7F_7F7F

    /// Not zero if a byte has a meaning in a name: a control character, space, comma, `=`, a backslash, or the delete
    /// character.
    @inline(__always)
    static func namesSpecials(_ word: UInt64) -> UInt64 {
        let low = word & lows
        // Adding one turns the delete character into zero, beside the control characters.
        let next = (low &+ ones) & lows
        let plain =
            (next &+ 0x5E5E_5E5E_5E5E_5E5E) & ((low ^ 0x2C2C_2C2C_2C2C_2C2C) &+ lows)
            & ((low ^ 0x3D3D_3D3D_3D3D_3D3D) &+ lows) & ((low ^ 0x5C5C_5C5C_5C5C_5C5C) &+ lows)
        return ~(plain | word) & tops
    }

    /// Not zero if a byte has a meaning in a string: a quote, a backslash, or a newline.
    @inline(__always)
    static func stringsSpecials(_ word: UInt64) -> UInt64 {
        let low = word & lows
        let plain =
            ((low ^ 0x2222_2222_2222_2222) &+ lows) & ((low ^ 0x5C5C_5C5C_5C5C_5C5C) &+ lows)
            & ((low ^ 0x0A0A_0A0A_0A0A_0A0A) &+ lows)
        return ~(plain | word) & tops
    }
}
