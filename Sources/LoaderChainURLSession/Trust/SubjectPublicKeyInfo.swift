import Foundation

/// A public key with its kind, as certificates hold it and as pins are made of it (RFC 5280, section 4.1).
///
/// Apple's Security gives a key without its kind, so it is put in front again.
enum SubjectPublicKeyInfo {
    /// Encodes an RSA key, of any size.
    static func rsa(_ key: Data) -> Data {
        info([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01], [0x05, 0x00], key)
    }

    /// Encodes a key of a curve of NIST; nil for a size that no such curve has.
    static func ellipticCurve(_ key: Data, bits: Int) -> Data? {
        let curve: [UInt8]
        switch bits {
        case 256: curve = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
        case 384: curve = [0x2B, 0x81, 0x04, 0x00, 0x22]
        case 521: curve = [0x2B, 0x81, 0x04, 0x00, 0x23]
        default: return nil
        }
        return info([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01], tagged(0x06, curve), key)
    }

    private static func info(_ kind: [UInt8], _ parameters: [UInt8], _ key: Data) -> Data {
        // A string of bits begins with the number of those that its last byte does not use.
        Data(tagged(0x30, tagged(0x30, tagged(0x06, kind) + parameters) + tagged(0x03, [0] + key)))
    }

    /// A value of DER.
    private static func tagged(_ tag: UInt8, _ value: [UInt8]) -> [UInt8] {
        guard value.count >= 0x80 else { return [tag, UInt8(value.count)] + value }
        var length: [UInt8] = []
        var rest = value.count
        while rest > 0 {
            length.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        }
        return [tag, 0x80 | UInt8(length.count)] + length + value
    }
}
