/// SHA-512 of FIPS 180-4.
package struct SHA512: Digest {
    // Not the generic type itself, whose methods would not be specialized where a digest is chosen when the program runs.
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
