import LoaderChainPlatformFoundation

/// The text form of certificates and keys: base 64 between two lines that name it (RFC 7468).
package enum PEM {
    /// One block of a text.
    package struct Block: Equatable {
        /// What it holds, such as `CERTIFICATE`.
        package let label: String
        /// The bytes; empty for an encrypted key of the older form, which has header fields.
        package let bytes: Data
    }

    /// The blocks of a text, in their order; whatever is around them is left out, and so is a block that is not complete.
    package static func blocks(in data: Data) -> [Block] {
        var blocks: [Block] = []
        var open: (label: String, base64: [UInt8])?
        for line in data.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
            let line = ASCII.trimmed(line)
            if let label = label(of: line, after: "-----BEGIN ") {
                open = (label, [])
            } else if let current = open, label(of: line, after: "-----END ") == current.label {
                blocks.append(Block(label: current.label, bytes: Data(base64Encoded: Data(current.base64)) ?? Data()))
                open = nil
            } else {
                open?.base64 += line
            }
        }
        return blocks
    }

    /// The text of certificates.
    package static func text(ofCertificates certificates: [Data]) -> String {
        certificates.map { certificate in
            let base64 = Array(certificate.base64EncodedString())
            let lines = stride(from: 0, to: base64.count, by: 64).map {
                String(base64[$0..<min($0 + 64, base64.count)])
            }
            return (["-----BEGIN CERTIFICATE-----"] + lines + ["-----END CERTIFICATE-----", ""]).joined(separator: "\n")
        }.joined()
    }

    /// The certificates of PEM or DER bytes, each as DER.
    static func certificates(in material: TLSMaterial) throws(TLSOptions.Refused) -> [Data] {
        let bytes = try material.bytes()
        let found =
            isDER(bytes) ? [bytes] : blocks(in: bytes).filter { certificateLabels.contains($0.label) }.map(\.bytes)
        guard !found.isEmpty, found.allSatisfy(isDER) else {
            throw TLSOptions.Refused("There is no certificate in \(material); give one as PEM or DER")
        }
        return found
    }

    /// Whether bytes are one sequence of DER, as certificates, keys and archives are, and nothing else.
    static func isDER(_ bytes: Data) -> Bool {
        var rest = bytes[...]
        guard rest.popFirst() == 0x30, let first = rest.popFirst() else { return false }
        guard first >= 0x80 else { return rest.count == Int(first) }
        let count = Int(first & 0x7F)
        guard (1...4).contains(count), rest.count >= count else { return false }
        let length = rest.prefix(count).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return UInt64(rest.count - count) == length
    }

    private static let certificateLabels: Set = ["CERTIFICATE", "TRUSTED CERTIFICATE", "X509 CERTIFICATE"]

    private static func label(of line: some Collection<UInt8>, after start: String) -> String? {
        let end = "-----"
        guard line.count >= start.utf8.count + end.utf8.count, line.starts(with: start.utf8) else { return nil }
        let label = line.dropFirst(start.utf8.count)
        guard label.suffix(end.utf8.count).elementsEqual(end.utf8) else { return nil }
        return String(decoding: label.dropLast(end.utf8.count), as: UTF8.self)
    }
}
