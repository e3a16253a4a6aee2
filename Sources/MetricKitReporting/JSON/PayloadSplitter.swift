/// Splits the text of a payload, which arrives in pieces, into the values of its keys.
///
/// Of a key whose value is an array, every element is handed out by itself as soon as it is whole, so that a payload of a
/// megabyte needs no more memory than its largest element. What is handed out has balanced brackets; whether it is JSON is for
/// its reader to say.
struct PayloadSplitter {
    /// A value, or an element of one that is an array.
    struct Piece {
        /// The key as it stands in the text, with its quotes.
        let rawKey: [UInt8]
        let key: String
        let isElement: Bool
        let bytes: [UInt8]
        /// How many bytes of the payload stand before it.
        let offset: Int

        var isEmptyArray: Bool { !isElement && bytes == Array("[]".utf8) }
    }

    private enum Place {
        /// Before the object of the payload.
        case beginning
        /// Where a key begins, or the object ends if it is empty.
        case firstKey
        /// Where another key begins.
        case key
        /// In a key.
        case inKey
        /// Between a key and its value.
        case colon
        /// Where a value begins.
        case value
        /// Where an element begins, or its array ends if it is empty.
        case firstElement
        /// Where another element begins.
        case element
        /// In a value or an element.
        case inValue
        /// Behind a value.
        case afterValue
        /// Behind an element.
        case afterElement
        /// Behind the object.
        case end
    }

    private var place = Place.beginning
    private var rawKey: [UInt8] = []
    private var key = ""
    private var isElement = false
    private var buffer: [UInt8] = []
    /// Where what is in the buffer begins.
    private var start = 0
    /// How many brackets are open in the value.
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    private(set) var offset = 0
    /// The most bytes of a value.
    private let limit: Int

    init(limit: Int = JSONLimits.standard.bytes) { self.limit = limit }

    /// Whether the payload is whole.
    var isAtEnd: Bool { place == .end }

    mutating func read(_ bytes: ArraySlice<UInt8>, _ take: (Piece) -> Void) throws(JSONProblem) {
        var index = bytes.startIndex
        while index < bytes.endIndex {
            guard isInString || depth > 0 else {
                try read(bytes[index], take)
                offset += 1
                index += 1
                continue
            }
            let end = endOfInside(bytes, from: index)
            guard end - index <= limit - buffer.count else { throw JSONProblem(reason: .tooLong, offset: offset) }
            buffer.append(contentsOf: bytes[index..<end])
            offset += end - index
            index = end
            if !isInString, depth == 0 {
                if place == .inKey { try finishKey() } else { finishValue(take) }
            }
        }
    }

    /// The end of the string or the brackets that the bytes are in.
    private mutating func endOfInside(_ bytes: ArraySlice<UInt8>, from start: Int) -> Int {
        // This loop sees most of the bytes.
        var (depth, isInString, isEscaped) = (depth, isInString, isEscaped)
        defer { (self.depth, self.isInString, self.isEscaped) = (depth, isInString, isEscaped) }
        for index in start..<bytes.endIndex {
            let byte = bytes[index]
            if isEscaped {
                isEscaped = false
            } else if isInString {
                if byte == JSONText.backslash { isEscaped = true }
                if byte == JSONText.quote { isInString = false }
            } else {
                switch byte {
                case JSONText.quote: isInString = true
                case JSONText.openBrace, JSONText.openBracket: depth += 1
                case JSONText.closeBrace, JSONText.closeBracket: depth -= 1
                default: break
                }
            }
            if depth == 0, !isInString { return index + 1 }
        }
        return bytes.endIndex
    }

    /// Reads a byte outside of strings and of nested brackets.
    private mutating func read(_ byte: UInt8, _ take: (Piece) -> Void) throws(JSONProblem) {
        if place == .inValue {
            guard Self.endsWord(byte) else {
                guard buffer.count < limit else { throw JSONProblem(reason: .tooLong, offset: offset) }
                return buffer.append(byte)
            }
            finishValue(take)
        }
        if JSONText.isSpace(byte) { return }
        switch (place, byte) {
        case (.beginning, JSONText.openBrace): place = .firstKey
        // A mark of byte order may stand before everything.
        case (.beginning, 0xEF) where offset == 0, (.beginning, 0xBB) where offset == 1,
            (.beginning, 0xBF) where offset == 2:
            break
        case (.firstKey, JSONText.quote), (.key, JSONText.quote):
            (buffer, start) = ([byte], offset)
            isInString = true
            place = .inKey
        case (.firstKey, JSONText.closeBrace), (.afterValue, JSONText.closeBrace): place = .end
        case (.colon, JSONText.colon): place = .value
        case (.value, JSONText.openBracket): place = .firstElement
        case (.firstElement, JSONText.closeBracket):
            // An array without elements is a value of its own.
            take(Piece(rawKey: rawKey, key: key, isElement: false, bytes: Array("[]".utf8), offset: offset))
            place = .afterValue
        case (.afterElement, JSONText.closeBracket): place = .afterValue
        case (.value, _): begin(byte, isElement: false)
        case (.firstElement, _), (.element, _): begin(byte, isElement: true)
        case (.afterValue, JSONText.comma): place = .key
        case (.afterElement, JSONText.comma): place = .element
        default: throw JSONProblem(reason: place == .end ? .trailing : .unexpected, offset: offset)
        }
    }

    /// Whether a number or a word ends before a byte.
    private static func endsWord(_ byte: UInt8) -> Bool {
        byte == JSONText.comma || byte == JSONText.closeBrace || byte == JSONText.closeBracket || JSONText.isSpace(byte)
    }

    private mutating func finishKey() throws(JSONProblem) {
        do throws(JSONProblem) {
            key = try JSONDocument(buffer).root.text ?? ""
        } catch {
            throw JSONProblem(reason: error.reason, offset: start + error.offset)
        }
        (rawKey, place) = (buffer, .colon)
        buffer = []
    }

    private mutating func begin(_ byte: UInt8, isElement: Bool) {
        self.isElement = isElement
        start = offset
        buffer.removeAll(keepingCapacity: true)
        buffer.append(byte)
        isInString = byte == JSONText.quote
        depth = byte == JSONText.openBrace || byte == JSONText.openBracket ? 1 : 0
        place = .inValue
    }

    private mutating func finishValue(_ take: (Piece) -> Void) {
        take(Piece(rawKey: rawKey, key: key, isElement: isElement, bytes: buffer, offset: start))
        place = isElement ? .afterElement : .afterValue
    }
}
