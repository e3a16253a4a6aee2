// Support/Digests: checksums of bytes as servers name them. They tell damaged bytes from whole ones, and no secret depends on them.

import LoaderChainPlatformFoundation

/// A checksum that is computed while the bytes go by.
package protocol Digest: Sendable {
    /// Begins with no bytes.
    init()

    /// Adds the next bytes.
    mutating func add(_ bytes: UnsafeRawBufferPointer)

    /// Returns the checksum of all bytes, most significant byte first.
    ///
    /// It ends the computation: add nothing afterwards.
    mutating func finish() -> [UInt8]
}

extension Digest {
    /// Adds the next bytes.
    package mutating func add(_ bytes: Data) { bytes.withUnsafeBytes { add($0) } }

    /// The checksum of a whole.
    package static func of(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var digest = Self()
        Array(bytes).withUnsafeBytes { digest.add($0) }
        return digest.finish()
    }
}
