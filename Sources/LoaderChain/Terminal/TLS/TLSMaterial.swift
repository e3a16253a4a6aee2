import DurableFiles
import LoaderChainPlatformFoundation

/// The bytes of certificates or of a key, or the file that holds them.
///
/// Certificates and keys may be PEM or DER. A terminal reads a file when it is made, so that a file that is missing is an error at once.
public struct TLSMaterial: Hashable, Sendable {
    private let source: Source

    private enum Source: Hashable {
        case data(Secret<Data>)
        case file(URL)
    }

    /// Bytes in memory.
    public static func data(_ bytes: Data) -> TLSMaterial { TLSMaterial(source: .data(Secret(bytes))) }

    /// Text in memory, which is PEM.
    public static func pem(_ text: String) -> TLSMaterial { data(Data(text.utf8)) }

    /// A file.
    public static func file(_ file: URL) -> TLSMaterial { TLSMaterial(source: .file(file)) }

    /// The file, if it is one.
    public var file: URL? {
        if case .file(let file) = source { file } else { nil }
    }

    /// Returns the bytes, reading the file if it is one.
    ///
    /// - Throws: if the file cannot be read or is larger than 16 MiB.
    public func bytes() throws(TLSOptions.Refused) -> Data {
        switch source {
        case .data(let bytes): bytes.value
        case .file(let file): try Self.read(file)
        }
    }

    private static let largestFile: Int64 = 16 << 20

    private static func read(_ url: URL) throws(TLSOptions.Refused) -> Data {
        guard url.isFileURL else {
            throw TLSOptions.Refused(
                "The URL of the certificates or key is not a file URL")
        }
        let path = url.path(percentEncoded: false)
        let bytes: Data
        do throws(FileFailure) {
            let file = try FileDescriptor(reading: path)
            // One more than is allowed, to notice a file that is too large.
            bytes = try file.readAll(Int(min(try file.length(), largestFile)) + 1, at: 0)
        } catch {
            let cause = error.isMissing ? "it does not exist" : "system error \(error.code)"
            throw TLSOptions.Refused(
                "The file \(path) with certificates or a key could not be \(error.action): \(cause)")
        }
        guard bytes.count <= largestFile else {
            throw TLSOptions.Refused(
                "The file \(path) is too large for certificates or a key, which have at most 16 MiB")
        }
        return bytes
    }
}

extension TLSMaterial: CustomStringConvertible {
    /// The path of a file; of bytes, only that they are in memory.
    public var description: String { file.map { $0.path(percentEncoded: false) } ?? "bytes in memory" }
}

/// The text form of certificates and keys: base 64 between two lines that name it (RFC 7468).
package enum PEM {
    package struct Block: Equatable {
        /// The label, such as `CERTIFICATE`.
        package let label: String
        /// The bytes; empty for an encrypted key of the older form, which has header fields.
        package let bytes: Data
    }

    /// The blocks of a text, in their order; text around them, and incomplete blocks, are left out.
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

    package static func text(label: String, _ bytes: Data) -> String {
        let base64 = bytes.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(base64)\n-----END \(label)-----\n"
    }

    /// The certificates of PEM or DER bytes, each as DER.
    static func certificates(in material: TLSMaterial) throws(TLSOptions.Refused) -> [Data] {
        let bytes = try material.bytes()
        let found =
            isDER(bytes) ? [bytes] : blocks(in: bytes).filter { certificateLabels.contains($0.label) }.map(\.bytes)
        guard !found.isEmpty, found.allSatisfy(isDER) else {
            throw TLSOptions.Refused("No certificate found in \(material); give a certificate as PEM or DER")
        }
        return found
    }

    /// Whether bytes are one sequence of DER, as certificates, keys and archives are, and nothing else.
    package static func isDER(_ bytes: Data) -> Bool {
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
