import LoaderChain

/// Validates a JSON text strictly according to RFC 8259, and indexes its values.
struct JSONIndexer {
    private let bytes: [UInt8]
    private let limits: JSONLimits
    private var place = 0
    private var entries: [JSONDocument.Entry] = []
    /// The objects and arrays that are open, the innermost last.
    private var open: [Int] = []

    private enum Expected {
        case value
        /// A value, or the end of an empty array.
        case valueOrEnd
        case key
        /// A key, or the end of an empty object.
        case keyOrEnd
        /// A comma, or the end of the innermost open object or array.
        case commaOrEnd
    }

    static func index(_ bytes: [UInt8], _ limits: JSONLimits) throws(JSONProblem) -> [JSONDocument.Entry] {
        guard bytes.count <= UInt32.max else { throw JSONProblem(reason: .tooLong, offset: 0) }
        var indexer = JSONIndexer(bytes, limits)
        try indexer.run()
        return indexer.entries
    }

    private init(_ bytes: [UInt8], _ limits: JSONLimits) {
        self.bytes = bytes
        self.limits = limits
        // In these texts a value takes about sixteen bytes, so this avoids most reallocations.
        entries.reserveCapacity(min(bytes.count / 16 + 1, limits.values))
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { place = 3 }
    }

    private mutating func run() throws(JSONProblem) {
        var expected = Expected.value
        repeat {
            try skipSpace()
            expected = try step(expected)
        } while !open.isEmpty
        while place < bytes.count, JSONText.isSpace(bytes[place]) { place += 1 }
        guard place == bytes.count else { throw problem(.trailing) }
    }

    private mutating func step(_ expected: Expected) throws(JSONProblem) -> Expected {
        let byte = bytes[place]
        switch expected {
        case .valueOrEnd where byte == JSONText.closeBracket: return try close(.array)
        case .keyOrEnd where byte == JSONText.closeBrace: return try close(.object)
        case .value, .valueOrEnd: return try takeValue(byte)
        case .key, .keyOrEnd:
            guard byte == JSONText.quote else { throw problem(.unexpected) }
            try takeString()
            try skipSpace()
            guard bytes[place] == JSONText.colon else { throw problem(.unexpected) }
            place += 1
            return .value
        case .commaOrEnd:
            guard let inner = open.last else { throw problem(.unexpected) }
            let kind = entries[inner].kind
            if byte == JSONText.comma {
                place += 1
                return kind == .object ? .key : .value
            }
            guard byte == (kind == .object ? JSONText.closeBrace : JSONText.closeBracket) else {
                throw problem(.unexpected)
            }
            return try close(kind)
        }
    }

    private mutating func takeValue(_ byte: UInt8) throws(JSONProblem) -> Expected {
        switch byte {
        case JSONText.openBrace, JSONText.openBracket:
            guard open.count < limits.depth else { throw problem(.tooDeep) }
            open.append(entries.count)
            try add(byte == JSONText.openBrace ? .object : .array, from: place)
            place += 1
            return byte == JSONText.openBrace ? .keyOrEnd : .valueOrEnd
        case JSONText.quote: try takeString()
        case UInt8(ascii: "t"): try takeWord("true", .yes)
        case UInt8(ascii: "f"): try takeWord("false", .no)
        case UInt8(ascii: "n"): try takeWord("null", .null)
        default: try takeNumber()
        }
        return .commaOrEnd
    }

    private mutating func close(_ kind: JSONDocument.Kind) throws(JSONProblem) -> Expected {
        guard let inner = open.popLast() else { throw problem(.unexpected) }
        place += 1
        entries[inner].end = UInt32(place)
        entries[inner].next = UInt32(entries.count)
        return .commaOrEnd
    }

    private mutating func add(_ kind: JSONDocument.Kind, from start: Int) throws(JSONProblem) {
        guard entries.count < limits.values else { throw JSONProblem(reason: .tooMany, offset: start) }
        let next = UInt32(entries.count + 1)
        entries.append(JSONDocument.Entry(start: UInt32(start), end: UInt32(place), next: next, kind: kind))
    }

    private mutating func skipSpace() throws(JSONProblem) {
        while place < bytes.count, JSONText.isSpace(bytes[place]) { place += 1 }
        guard place < bytes.count else { throw problem(.unfinished) }
    }

    private mutating func takeWord(_ word: String, _ kind: JSONDocument.Kind) throws(JSONProblem) {
        let start = place
        for byte in word.utf8 {
            guard place < bytes.count else { throw problem(.unfinished) }
            guard bytes[place] == byte else { throw problem(.unexpected) }
            place += 1
        }
        try add(kind, from: start)
    }

    private func problem(_ reason: JSONProblem.Reason) -> JSONProblem { JSONProblem(reason: reason, offset: place) }
}

// MARK: Strings and numbers

extension JSONIndexer {
    private mutating func takeString() throws(JSONProblem) {
        let start = place
        var isPlain = true
        place += 1
        while place < bytes.count {
            switch bytes[place] {
            case JSONText.quote:
                place += 1
                if !isPlain {
                    let inside = bytes[start + 1..<place - 1]
                    guard String(validating: inside, as: UTF8.self) != nil else { throw problem(.text) }
                }
                try add(.string, from: start)
                return
            case JSONText.backslash: try skipEscape()
            case 0..<0x20: throw problem(.text)
            case 0x80...: isPlain = false
            default: break
            }
            place += 1
        }
        throw problem(.unfinished)
    }

    /// Advances to the last byte of an escape.
    private mutating func skipEscape() throws(JSONProblem) {
        place += 1
        guard place < bytes.count else { throw problem(.unfinished) }
        guard bytes[place] == UInt8(ascii: "u") else {
            guard JSONText.escaped(bytes[place]) != nil else { throw problem(.text) }
            return
        }
        guard place + 4 < bytes.count else { throw problem(.unfinished) }
        guard Hexadecimal.value(of: bytes[place + 1...place + 4]) != nil else { throw problem(.text) }
        place += 4
    }

    private mutating func takeNumber() throws(JSONProblem) {
        let start = place
        if bytes[place] == JSONText.minus { place += 1 }
        if place < bytes.count, bytes[place] == JSONText.zero { place += 1 } else { try takeDigits() }
        if place < bytes.count, bytes[place] == JSONText.point {
            place += 1
            try takeDigits()
        }
        if place < bytes.count, bytes[place] | 0x20 == UInt8(ascii: "e") {
            place += 1
            if place < bytes.count, bytes[place] == JSONText.plus || bytes[place] == JSONText.minus { place += 1 }
            try takeDigits()
        }
        try add(.number, from: start)
    }

    private mutating func takeDigits() throws(JSONProblem) {
        guard place < bytes.count else { throw problem(.unfinished) }
        guard JSONText.isDigit(bytes[place]) else { throw problem(.number) }
        while place < bytes.count, JSONText.isDigit(bytes[place]) { place += 1 }
    }
}

/// The syntax of JSON, byte by byte.
enum JSONText {
    static let quote = UInt8(ascii: "\"")
    static let backslash = UInt8(ascii: "\\")
    static let colon = UInt8(ascii: ":")
    static let comma = UInt8(ascii: ",")
    static let openBrace = UInt8(ascii: "{")
    static let closeBrace = UInt8(ascii: "}")
    static let openBracket = UInt8(ascii: "[")
    static let closeBracket = UInt8(ascii: "]")
    static let minus = UInt8(ascii: "-")
    static let plus = UInt8(ascii: "+")
    static let point = UInt8(ascii: ".")
    static let zero = UInt8(ascii: "0")

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    static func isDigit(_ byte: UInt8) -> Bool { byte &- zero < 10 }

    /// The byte for a one-letter escape.
    static func escaped(_ letter: UInt8) -> UInt8? {
        switch letter {
        case quote, backslash, UInt8(ascii: "/"): letter
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    /// Decodes the valid bytes between the quotes of a string; a lone surrogate becomes U+FFFD.
    static func text(_ inside: ArraySlice<UInt8>) -> String {
        guard inside.contains(backslash) else { return String(decoding: inside, as: UTF8.self) }
        var plain: [UInt8] = []
        plain.reserveCapacity(inside.count)
        var units: [UInt16] = []
        var rest = inside
        while let byte = rest.popFirst() {
            let letter = byte == backslash ? rest.popFirst() : nil
            if letter == UInt8(ascii: "u"), let unit = Hexadecimal.value(of: rest.prefix(4)) {
                units.append(UInt16(truncatingIfNeeded: unit))
                rest = rest.dropFirst(4)
                continue
            }
            plain.append(contentsOf: String(decoding: units, as: UTF16.self).utf8)
            units.removeAll(keepingCapacity: true)
            plain.append(letter.flatMap(escaped) ?? byte)
        }
        plain.append(contentsOf: String(decoding: units, as: UTF16.self).utf8)
        return String(decoding: plain, as: UTF8.self)
    }
}
