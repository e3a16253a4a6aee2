#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// 128 bits of a payload, by FNV-1a: the same for the same bytes on every device and at every launch, and another for others.
///
/// It tells payloads apart, and is not secure against forged ones.
struct PayloadDigest: Hashable, Sendable {
    let value: UInt128

    init(_ data: Data) {
        let prime: UInt128 = 0x0000_0000_0100_0000_0000_0000_0000_013B
        var hash: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d
        // Iterating over an array is three times as fast as over data.
        for byte in [UInt8](data) { hash = (hash ^ UInt128(byte)) &* prime }
        value = hash
    }

    var text: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 32 - digits.count) + digits
    }
}
