import LoaderChain

/// The values of several `Set-Cookie` fields that a session has joined by commas.
enum JoinedCookies {
    /// Takes the values apart.
    ///
    /// A comma separates two of them where a name and an equals sign follow it. The comma of a date is followed by a day and a month. A
    /// comma within a cookie's value is taken for a separator only if what follows looks like another cookie.
    static func separate(_ joined: String) -> [String] {
        let bytes = Array(joined.utf8)
        var values: [String] = []
        var start = 0
        for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: ",") {
            let rest = bytes[(index + 1)...].drop { $0 == ASCII.space || $0 == ASCII.tab }
            let name = rest.prefix(while: ASCIISet.token.contains)
            guard !name.isEmpty, rest.dropFirst(name.count).first == UInt8(ascii: "=") else { continue }
            values.append(String(decoding: bytes[start..<index], as: UTF8.self))
            start = rest.startIndex
        }
        values.append(String(decoding: bytes[start...], as: UTF8.self))
        return values
    }
}
