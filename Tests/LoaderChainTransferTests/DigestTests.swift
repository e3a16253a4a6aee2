import Foundation
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct DigestTests {
    private func hex(_ bytes: [UInt8]) -> String { bytes.map { Hexadecimal.text($0) }.joined() }

    /// The vectors of FIPS 180-4, RFC 1321 and RFC 3720.
    @Test func digestsMatchStandardVectors() {
        #expect(hex(SHA256.of("".utf8)) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(hex(SHA256.of("abc".utf8)) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        let two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"
        #expect(hex(SHA256.of(two.utf8)) == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
        let many = repeatElement(UInt8(ascii: "a"), count: 100_000)
        #expect(hex(SHA256.of(many)) == "6d1cf22d7cc09b085dfc25ee1a1f3ae0265804c607bc2074ad253bcc82fd81ee")

        let empty =
            "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
            + "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"
        #expect(hex(SHA512.of("".utf8)) == empty)
        let abc =
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
            + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        #expect(hex(SHA512.of("abc".utf8)) == abc)
        let long =
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
            + "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"
        let ofLong =
            "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018"
            + "501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909"
        #expect(hex(SHA512.of(long.utf8)) == ofLong)

        #expect(hex(MD5.of("".utf8)) == "d41d8cd98f00b204e9800998ecf8427e")
        #expect(hex(MD5.of("abc".utf8)) == "900150983cd24fb0d6963f7d28e17f72")
        #expect(hex(MD5.of("message digest".utf8)) == "f96b697d7cb7938d525a2f31aaf161d0")
        let digits = String(repeating: "1234567890", count: 8)
        #expect(hex(MD5.of(digits.utf8)) == "57edf4a22be3c955ac49da2e2107b67a")

        #expect(hex(CRC32C.of("".utf8)) == "00000000")
        #expect(hex(CRC32C.of("123456789".utf8)) == "e3069283")
        #expect(hex(CRC32C.of([UInt8](repeating: 0, count: 32))) == "8a9136aa")
        #expect(hex(CRC32C.of([UInt8](repeating: 0xFF, count: 32))) == "62a8ab43")
        #expect(hex(CRC32C.of([UInt8](0..<32))) == "46dd794e")

        #expect(CRC32C.value(of: Data("123456789".utf8)) == 0xE306_9283)
        #expect(SHA256.name(of: "abc".utf8) == "ba7816bf8f01cfea414140de5dae2223")
    }

    /// The vectors of RFC 4231.
    @Test func authenticationCodesMatchStandardVectors() {
        func code(_ key: [UInt8], _ text: String) -> String { hex(SHA256.code(of: text.utf8, key: key)) }
        #expect(
            code([UInt8](repeating: 0x0B, count: 20), "Hi There")
                == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
        #expect(
            code(Array("Jefe".utf8), "what do ya want for nothing?")
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        #expect(
            code(
                [UInt8](repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First")
                == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    }

    /// The digest of the digests of 270 messages, one of each length, as Python's hashlib has it.
    @Test func digestsMatchReferenceAtEveryLength() {
        func digestOfDigests<Kind: Digest>(_ kind: Kind.Type) -> String {
            var digest = Kind()
            for count in 0..<270 { digest.add(Data(Kind.of((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }))) }
            return hex(digest.finish())
        }
        #expect(
            digestOfDigests(SHA256.self) == "c51f426f48c89d4dd404bec783d339746bf74761bb132e571ce3a6981ec05d16")
        #expect(
            digestOfDigests(SHA512.self)
                == "fbdea834f675539eb46c4f0125779eef5cfa9b0797cd9a4ee3b57ae3112937f7"
                + "a74754d5e575b883955125de2d87fdc43ab134c5158b84b87061035bec872c76")
        #expect(digestOfDigests(MD5.self) == "3bc9d1f2295affe0cce97afba1ed0068")
    }

    /// Every length around the ends of blocks, in pieces of every size around them.
    @Test func digestIsIndependentOfPieceSize() {
        func check<Kind: Digest>(_ kind: Kind.Type, _ bytes: [UInt8], by size: Int) -> Bool {
            var digest = Kind()
            for start in stride(from: 0, to: bytes.count, by: size) {
                digest.add(Data(bytes[start..<min(start + size, bytes.count)]))
            }
            return digest.finish() == Kind.of(bytes)
        }
        for count in [0, 1, 7, 8, 9, 55, 56, 57, 63, 64, 65, 111, 112, 113, 119, 120, 127, 128, 129, 240, 257] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            for size in [1, 3, 63, 64, 65, 127, 128, 200] {
                #expect(check(SHA256.self, bytes, by: size), "SHA-256 of \(count) by \(size)")
                #expect(check(SHA512.self, bytes, by: size), "SHA-512 of \(count) by \(size)")
                #expect(check(MD5.self, bytes, by: size), "MD5 of \(count) by \(size)")
                #expect(check(CRC32C.self, bytes, by: size), "CRC-32C of \(count) by \(size)")
            }
        }
    }
}
