/// SHA-256 of FIPS 180-4.
package struct SHA256: Digest {
    // Not the generic type itself, whose methods would not be specialized where a digest is chosen when the program runs.
    private var hash = SHA2<Form>()

    package init() {}

    package mutating func add(_ bytes: UnsafeRawBufferPointer) { hash.add(bytes) }

    package mutating func finish() -> [UInt8] { hash.finish() }

    private enum Form: SHA2Form {
        static var atA: (UInt32, UInt32, UInt32) { (2, 13, 22) }
        static var atE: (UInt32, UInt32, UInt32) { (6, 11, 25) }
        static var ofEarly: (UInt32, UInt32, UInt32) { (7, 18, 3) }
        static var ofLate: (UInt32, UInt32, UInt32) { (17, 19, 10) }

        static let start = SHA2Numbers.start.map { UInt32($0 >> 32) }
        static let constants = SHA2Numbers.constants.prefix(64).map { UInt32($0 >> 32) }
    }
}
