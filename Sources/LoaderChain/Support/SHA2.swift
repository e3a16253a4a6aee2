import LoaderChainPlatformFoundation

/// SHA-256 of FIPS 180-4.
package struct SHA256: Digest {
    // Not the generic type itself, whose methods would not be specialized if a digest is chosen at run time.
    private var hash = SHA2<Form>()

    package init() {}

    package mutating func add(_ bytes: UnsafeRawBufferPointer) { hash.add(bytes) }

    package mutating func finish() -> [UInt8] { hash.finish() }

    /// The first half of the digest of bytes as text: enough that no others ever have the same.
    package static func name(of bytes: some Sequence<UInt8>) -> String { Hexadecimal.text(of: of(bytes).prefix(16)) }

    /// The authentication code of a message: HMAC of RFC 2104.
    package static func code(of message: some Sequence<UInt8>, key: [UInt8]) -> [UInt8] {
        // As long as a block.
        let key = key.count > 64 ? of(key) : key
        let block = key + [UInt8](repeating: 0, count: 64 - key.count)
        return of(block.map { $0 ^ 0x5C } + of(block.map { $0 ^ 0x36 } + message))
    }

    /// Whether these bytes are the code of a message; it takes as long for any that are not.
    package static func isCode(_ bytes: Data, of message: Data, key: [UInt8]) -> Bool {
        let code = code(of: message, key: key)
        return bytes.count == code.count && zip(bytes, code).reduce(0) { $0 | $1.0 ^ $1.1 } == 0
    }

    private enum Form: SHA2Form {
        static var atA: (UInt32, UInt32, UInt32) { (2, 13, 22) }
        static var atE: (UInt32, UInt32, UInt32) { (6, 11, 25) }
        static var ofEarly: (UInt32, UInt32, UInt32) { (7, 18, 3) }
        static var ofLate: (UInt32, UInt32, UInt32) { (17, 19, 10) }

        static let start = SHA2Numbers.start.map { UInt32($0 >> 32) }
        static let constants = SHA2Numbers.constants.prefix(64).map { UInt32($0 >> 32) }
    }
}

/// SHA-512 of FIPS 180-4.
package struct SHA512: Digest {
    // Not the generic type itself, whose methods would not be specialized if a digest is chosen at run time.
    private var hash = SHA2<Form>()

    package init() {}

    package mutating func add(_ bytes: UnsafeRawBufferPointer) { hash.add(bytes) }

    package mutating func finish() -> [UInt8] { hash.finish() }

    private enum Form: SHA2Form {
        static var atA: (UInt64, UInt64, UInt64) { (28, 34, 39) }
        static var atE: (UInt64, UInt64, UInt64) { (14, 18, 41) }
        static var ofEarly: (UInt64, UInt64, UInt64) { (1, 8, 7) }
        static var ofLate: (UInt64, UInt64, UInt64) { (19, 61, 6) }

        static let start = SHA2Numbers.start
        static let constants = SHA2Numbers.constants
    }
}

/// The hash functions of FIPS 180-4 that differ in the size of their words: SHA-256 and SHA-512.
///
/// A message is cut into blocks of sixteen words, most significant byte first, and each block is mixed into a state of eight words.
private struct SHA2<Form: SHA2Form>: Sendable {
    typealias Word = Form.Word
    private typealias State = (Word, Word, Word, Word, Word, Word, Word, Word)

    private static var wordsOfBlock: Int { 16 }
    private static var bytesOfWord: Int { Word.bitWidth / 8 }

    private var blocks = BlockBuffer(size: wordsOfBlock * bytesOfWord)
    private var state: State = (
        Form.start[0], Form.start[1], Form.start[2], Form.start[3], Form.start[4], Form.start[5], Form.start[6],
        Form.start[7]
    )

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var state = state
        blocks.add(bytes) { Self.take($0, into: &state) }
        self.state = state
    }

    mutating func finish() -> [UInt8] {
        var state = state
        // The number of bits has the size of two words.
        let bits = (blocks.count &* 8).bigEndianBytes
        let zeros = [UInt8](repeating: 0, count: 2 * Self.bytesOfWord - bits.count)
        blocks.finish(length: zeros + bits) { Self.take($0, into: &state) }
        return [state.0, state.1, state.2, state.3, state.4, state.5, state.6, state.7].flatMap(\.bigEndianBytes)
    }

    private static func take(_ block: UnsafeRawBufferPointer, into state: inout State) {
        let (atA, atE, ofEarly, ofLate) = (Form.atA, Form.atE, Form.ofEarly, Form.ofLate)
        // The words of the message, of which only the last sixteen are needed at a time.
        withUnsafeTemporaryAllocation(of: Word.self, capacity: wordsOfBlock) { words in
            for index in 0..<wordsOfBlock {
                words[index] = Word(
                    bigEndian: block.loadUnaligned(fromByteOffset: index * bytesOfWord, as: Word.self))
            }
            var (a, b, c, d, e, f, g, h) = state
            Form.constants.withUnsafeBufferPointer { constants in
                for round in 0..<constants.count {
                    if round >= wordsOfBlock {
                        let (early, late) = (words[(round + 1) & 15], words[(round + 14) & 15])
                        let first = early.rotated(ofEarly.0) ^ early.rotated(ofEarly.1) ^ early &>> ofEarly.2
                        let second = late.rotated(ofLate.0) ^ late.rotated(ofLate.1) ^ late &>> ofLate.2
                        words[round & 15] = words[round & 15] &+ first &+ words[(round + 9) & 15] &+ second
                    }
                    let choice = e & f ^ ~e & g
                    let added = h &+ (e.rotated(atE.0) ^ e.rotated(atE.1) ^ e.rotated(atE.2)) &+ choice
                    let first = added &+ constants[round] &+ words[round & 15]
                    let majority = a & b ^ a & c ^ b & c
                    let second = (a.rotated(atA.0) ^ a.rotated(atA.1) ^ a.rotated(atA.2)) &+ majority
                    (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
                }
            }
            state = (
                state.0 &+ a, state.1 &+ b, state.2 &+ c, state.3 &+ d, state.4 &+ e, state.5 &+ f, state.6 &+ g,
                state.7 &+ h
            )
        }
    }
}

/// The differences between SHA-256 and SHA-512.
private protocol SHA2Form: Sendable {
    associatedtype Word: FixedWidthInteger & UnsignedInteger & BitwiseCopyable & Sendable

    /// How far the words a and e of the state are rotated.
    static var atA: (Word, Word, Word) { get }
    static var atE: (Word, Word, Word) { get }
    /// How far earlier words of a block are rotated, twice, and shifted, to make a later one.
    static var ofEarly: (Word, Word, Word) { get }
    static var ofLate: (Word, Word, Word) { get }

    /// The state before the first block.
    static var start: [Word] { get }
    /// A word for each round.
    static var constants: [Word] { get }
}

/// The numbers of both forms, of which SHA-256 has the first halves.
private enum SHA2Numbers {
    /// The first 64 bits of the fractional parts of the square roots of the first 8 primes.
    static let start: [UInt64] = [
        0x6a09_e667_f3bc_c908, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b, 0xa54f_f53a_5f1d_36f1,
        0x510e_527f_ade6_82d1, 0x9b05_688c_2b3e_6c1f, 0x1f83_d9ab_fb41_bd6b, 0x5be0_cd19_137e_2179,
    ]

    /// The first 64 bits of the fractional parts of the cube roots of the first 80 primes.
    static let constants: [UInt64] = [
        0x428a_2f98_d728_ae22, 0x7137_4491_23ef_65cd, 0xb5c0_fbcf_ec4d_3b2f, 0xe9b5_dba5_8189_dbbc,
        0x3956_c25b_f348_b538, 0x59f1_11f1_b605_d019, 0x923f_82a4_af19_4f9b, 0xab1c_5ed5_da6d_8118,
        0xd807_aa98_a303_0242, 0x1283_5b01_4570_6fbe, 0x2431_85be_4ee4_b28c, 0x550c_7dc3_d5ff_b4e2,
        0x72be_5d74_f27b_896f, 0x80de_b1fe_3b16_96b1, 0x9bdc_06a7_25c7_1235, 0xc19b_f174_cf69_2694,
        0xe49b_69c1_9ef1_4ad2, 0xefbe_4786_384f_25e3, 0x0fc1_9dc6_8b8c_d5b5, 0x240c_a1cc_77ac_9c65,
        0x2de9_2c6f_592b_0275, 0x4a74_84aa_6ea6_e483, 0x5cb0_a9dc_bd41_fbd4, 0x76f9_88da_8311_53b5,
        0x983e_5152_ee66_dfab, 0xa831_c66d_2db4_3210, 0xb003_27c8_98fb_213f, 0xbf59_7fc7_beef_0ee4,
        0xc6e0_0bf3_3da8_8fc2, 0xd5a7_9147_930a_a725, 0x06ca_6351_e003_826f, 0x1429_2967_0a0e_6e70,
        0x27b7_0a85_46d2_2ffc, 0x2e1b_2138_5c26_c926, 0x4d2c_6dfc_5ac4_2aed, 0x5338_0d13_9d95_b3df,
        0x650a_7354_8baf_63de, 0x766a_0abb_3c77_b2a8, 0x81c2_c92e_47ed_aee6, 0x9272_2c85_1482_353b,
        0xa2bf_e8a1_4cf1_0364, 0xa81a_664b_bc42_3001, 0xc24b_8b70_d0f8_9791, 0xc76c_51a3_0654_be30,
        0xd192_e819_d6ef_5218, 0xd699_0624_5565_a910, 0xf40e_3585_5771_202a, 0x106a_a070_32bb_d1b8,
        0x19a4_c116_b8d2_d0c8, 0x1e37_6c08_5141_ab53, 0x2748_774c_df8e_eb99, 0x34b0_bcb5_e19b_48a8,
        0x391c_0cb3_c5c9_5a63, 0x4ed8_aa4a_e341_8acb, 0x5b9c_ca4f_7763_e373, 0x682e_6ff3_d6b2_b8a3,
        0x748f_82ee_5def_b2fc, 0x78a5_636f_4317_2f60, 0x84c8_7814_a1f0_ab72, 0x8cc7_0208_1a64_39ec,
        0x90be_fffa_2363_1e28, 0xa450_6ceb_de82_bde9, 0xbef9_a3f7_b2c6_7915, 0xc671_78f2_e372_532b,
        0xca27_3ece_ea26_619c, 0xd186_b8c7_21c0_c207, 0xeada_7dd6_cde0_eb1e, 0xf57d_4f7f_ee6e_d178,
        0x06f0_67aa_7217_6fba, 0x0a63_7dc5_a2c8_98a6, 0x113f_9804_bef9_0dae, 0x1b71_0b35_131c_471b,
        0x28db_77f5_2304_7d84, 0x32ca_ab7b_40c7_2493, 0x3c9e_be0a_15c9_bebc, 0x431d_67c4_9c10_0d4c,
        0x4cc5_d4be_cb3e_42b6, 0x597f_299c_fc65_7e2a, 0x5fcb_6fab_3ad6_faec, 0x6c44_198c_4a47_5817,
    ]
}

extension FixedWidthInteger {
    /// The bits moved to the right, those that leave coming back on the left.
    fileprivate func rotated(_ count: Self) -> Self { self &>> count | self &<< (Self(Self.bitWidth) &- count) }
}
