/// Reduces a path to what all users have in common: `/users/{id}/orders/{id}`.
///
/// A segment becomes `{id}` as a whole where it can be no word of a program's: it is longer than 64 bytes, is a UUID, has
/// percent-encoded bytes, an at sign or an equals sign, or mixes capitals, small letters and digits. Otherwise it is taken
/// apart at its marks, and the numbers and opaque parts between them become `{id}`; ``PathToken`` tells which are. A version
/// such as `v2` stays. What follows a semicolon goes, and so does everything from the seventeenth segment on.
struct PathTemplate: ~Copyable {
    private static let longestSegment = 64
    private static let mostSegments = 16
    private static let placeholder: StaticString = "{id}"
    private static let overflow: StaticString = "/*"
    /// A one-digit number grows to a placeholder, which is the worst that can happen.
    private static let growth = 4

    private let output: UnsafeMutableBufferPointer<UInt8>
    private var count = 0
    private var isChanged = false

    private init(_ output: UnsafeMutableBufferPointer<UInt8>) { self.output = output }

    /// The template of a percent-encoded path; the path itself, without a copy, where nothing in it is to be replaced.
    static func of(_ path: String) -> String {
        var bytes = path
        let template = bytes.withUTF8 { bytes in
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: room(for: bytes.count)) { output -> String? in
                var template = PathTemplate(output)
                template.appendPath(bytes)
                return template.isChanged ? String(decoding: output[..<template.count], as: UTF8.self) : nil
            }
        }
        return template ?? path
    }

    /// Writes the template of a path, and returns its length.
    static func write(_ path: UnsafeBufferPointer<UInt8>, to output: UnsafeMutableBufferPointer<UInt8>) -> Int {
        var template = PathTemplate(output)
        template.appendPath(path)
        return template.count
    }

    /// The longest that the template of a path of so many bytes can be.
    static func room(for count: Int) -> Int {
        // Each of so many segments, its slash, and what stands for the others.
        growth * min(count + 1, mostSegments * (longestSegment + 1)) + overflow.utf8CodeUnitCount
    }

    private mutating func appendPath(_ path: UnsafeBufferPointer<UInt8>) {
        let kinds = PathByte.table
        var start = path.first == PathByte.slash ? 1 : 0
        if start == 0 { isChanged = true }
        var segments = 0
        while start <= path.count {
            guard segments < Self.mostSegments else {
                isChanged = true
                return append(Self.overflow)
            }
            append(PathByte.slash)
            var end = start
            var seen: UInt8 = 0
            while end < path.count {
                let kind = kinds[Int(path[end])]
                if kind == PathByte.ends { break }
                seen |= kind
                end += 1
            }
            let segment = UnsafeBufferPointer(rebasing: path[start..<end])
            // Most are a short word or a number, and need no second look.
            if seen & ~PathByte.joinsWords == 0, segment.count < PathToken.shortestOpaque {
                append(segment)
            } else if seen == PathByte.isDigit {
                appendPlaceholder()
            } else {
                append(segment: segment)
            }
            segments += 1
            start = end + 1
        }
    }

    private mutating func append(segment: UnsafeBufferPointer<UInt8>) {
        var segment = segment
        if let end = segment.firstIndex(of: UInt8(ascii: ";")) {
            segment = UnsafeBufferPointer(rebasing: segment[..<end])
            isChanged = true
        }
        if SegmentLook.isVersion(segment) { return append(segment) }
        let look = SegmentLook(segment)
        if segment.count > Self.longestSegment || look.isOpaque {
            appendPlaceholder()
        } else if look.digits == 0 && segment.count < PathToken.shortestOpaque {
            append(segment)
        } else {
            appendTokens(of: segment)
        }
    }

    /// Appends what stands between the marks, and the marks; of placeholders with nothing but marks between them, one.
    private mutating func appendTokens(of segment: UnsafeBufferPointer<UInt8>) {
        var index = 0
        var placeholderEnd: Int?
        while index < segment.count {
            var end = index
            while end < segment.count, ASCII.isAlphanumeric(segment[end]) { end += 1 }
            if end == index {
                append(segment[index])
                index += 1
                continue
            }
            let token = UnsafeBufferPointer(rebasing: segment[index..<end])
            if !PathToken(token).isVariable {
                append(token)
                placeholderEnd = nil
            } else if let placeholderEnd {
                count = placeholderEnd
            } else {
                appendPlaceholder()
                placeholderEnd = count
            }
            index = end
        }
    }

    private mutating func appendPlaceholder() {
        isChanged = true
        append(Self.placeholder)
    }

    private mutating func append(_ text: StaticString) {
        append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        let rest = UnsafeMutableBufferPointer(rebasing: output[count...])
        count += rest.update(fromContentsOf: bytes)
    }

    private mutating func append(_ byte: UInt8) {
        output[count] = byte
        count += 1
    }
}

/// What a byte of a path can be part of, found by one look into a table.
private enum PathByte {
    static let slash = UInt8(ascii: "/")

    static let joinsWords: UInt8 = 1
    static let isDigit: UInt8 = 2
    static let ends: UInt8 = 4
    static let isOther: UInt8 = 8

    nonisolated(unsafe) static let table: UnsafePointer<UInt8> = {
        let table = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
        for byte in UInt8.min...UInt8.max {
            table[Int(byte)] =
                switch byte {
                case slash: ends
                case UInt8(ascii: "-"), UInt8(ascii: "_"): joinsWords
                case _ where ASCII.isLetter(byte): joinsWords
                case _ where ASCII.isDigit(byte): isDigit
                default: isOther
                }
        }
        return UnsafePointer(table)
    }()
}

extension ASCII {
    /// Whether the byte is a letter or a digit.
    static func isAlphanumeric(_ byte: UInt8) -> Bool {
        isDigit(byte) || isLetter(byte)
    }

    /// Whether the byte is a letter.
    static func isLetter(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- UInt8(ascii: "a") < 26
    }
}
