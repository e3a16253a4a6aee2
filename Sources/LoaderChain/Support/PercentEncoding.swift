/// The percent-encoding for one part of a URL: the characters that stay as they are, and how others are written.
package struct PercentEncoding: Sendable {
    private let allowed: ASCIISet
    private var isUppercase = true

    /// For a path, whose slashes separate.
    static let path = PercentEncoding(allowed: ASCIISet(ASCIISet.alphanumerics + "-._~!$&'()*+,;=:@/"))
    /// For a query as a whole.
    static let query = PercentEncoding(allowed: ASCIISet(ASCIISet.alphanumerics + "-._~!$&'()*+,;=:@/?"))
    /// For all of a URL that follows its host: path, query and fragment.
    package static let target = PercentEncoding(allowed: ASCIISet(ASCIISet.alphanumerics + "-._~!$&'()*+,;=:@/?#"))
    /// For one name or value of a query: without characters that a server could read as a separator or a space.
    static let queryItem = PercentEncoding(allowed: ASCIISet(ASCIISet.alphanumerics + "-._~:@/?!$'()*,"))
    /// For a value of baggage, in which a percent sign begins an escape (W3C Baggage).
    static let baggage = PercentEncoding(
        allowed: ASCIISet(ASCIISet.alphanumerics + "!#$&'()*+-./:<=>?@[]^_`{|}~"))
    /// For a part of a file's name, without characters that are special to a file system.
    package static let fileName = PercentEncoding(allowed: ASCIISet(ASCIISet.alphanumerics + "-_."), isUppercase: false)
    /// For a name or a value of a form, in which the URL standard lets fewer characters stay, and the space for a while.
    private static let form = PercentEncoding(allowed: ASCIISet(ASCIISet.alphanumerics + "*-._ "))

    /// Encodes a name or a value of a form, in which a space becomes a plus sign.
    static func encodeForm(_ text: String) -> String {
        form.encode(text).split(separator: " ", omittingEmptySubsequences: false).joined(separator: "+")
    }

    /// Encodes all characters that are not allowed, percent signs too.
    package func encode(_ text: String) -> String {
        encode(text, keepsEscapes: false)
    }

    /// Encodes all characters that are not allowed, but keeps a percent sign that two hexadecimal digits follow.
    package func encodeKeepingEscapes(_ text: String) -> String {
        encode(text, keepsEscapes: true)
    }

    private func encode(_ text: String, keepsEscapes: Bool) -> String {
        if text.utf8.allSatisfy({ allowed.contains($0) }) { return text }
        let bytes = Array(text.utf8)
        var encoded: [UInt8] = []
        encoded.reserveCapacity(bytes.count * 2)
        for (index, byte) in bytes.enumerated() {
            let isEscape = byte == UInt8(ascii: "%") && Self.escapedByte(in: bytes, at: index) != nil
            if allowed.contains(byte) || (keepsEscapes && isEscape) {
                encoded.append(byte)
            } else {
                encoded.append(UInt8(ascii: "%"))
                Hexadecimal.append(UInt64(byte), digits: 2, isUppercase: isUppercase, to: &encoded)
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Decodes what ``encode(_:)`` has made; nil for any other text.
    package func decodeEncoded(_ text: String) -> String? {
        let decoded = Self.decode(text)
        return encode(decoded) == text ? decoded : nil
    }

    /// Decodes escapes; invalid escapes stay as they are, and bytes that are not UTF-8 are replaced.
    package static func decode(_ text: some StringProtocol) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        let bytes = Array(text.utf8)
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), let byte = escapedByte(in: bytes, at: index) {
                decoded.append(byte)
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }

    private static func escapedByte(in bytes: [UInt8], at index: Int) -> UInt8? {
        guard index + 2 < bytes.count, let high = ASCII.hexadecimalValue(bytes[index + 1]),
            let low = ASCII.hexadecimalValue(bytes[index + 2])
        else { return nil }
        return high << 4 | low
    }
}
