/// Cuts the text of a payload into the values of its keys, while it comes in pieces.
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

    /// Takes a piece of the text.
    mutating func read(_ bytes: ArraySlice<UInt8>, _ take: (Piece) -> Void) throws(JSONProblem) {
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let end = endOfPlainRun(bytes, from: index)
            if end > index {
                guard end - index <= limit - buffer.count else { throw JSONProblem(reason: .tooLong, offset: offset) }
                buffer.append(contentsOf: bytes[index..<end])
                offset += end - index
                index = end
            } else {
                guard buffer.count < limit else { throw JSONProblem(reason: .tooLong, offset: offset) }
                try read(bytes[index], take)
                offset += 1
                index += 1
            }
        }
    }

    /// How far the bytes go that change nothing, but belong to the value: most of all bytes do.
    private func endOfPlainRun(_ bytes: ArraySlice<UInt8>, from start: Int) -> Int {
        guard place == .inValue, !isEscaped, isInString || depth > 0 else { return start }
        var end = start
        while end < bytes.endIndex {
            switch bytes[end] {
            case JSONText.quote: return end
            case JSONText.backslash where isInString: return end
            case JSONText.openBrace, JSONText.openBracket, JSONText.closeBrace, JSONText.closeBracket:
                if !isInString { return end }
            default: break
            }
            end += 1
        }
        return end
    }

    private mutating func read(_ byte: UInt8, _ take: (Piece) -> Void) throws(JSONProblem) {
        switch place {
        case .inValue:
            if continues(byte) { return }
            hand(take)
            place = isElement ? .afterElement : .afterValue
            // A number ends with the byte behind it.
            if !endedByItself { try read(byte, take) }
            return
        case .inKey:
            buffer.append(byte)
            if !isInStringAfter(byte) { try finishKey() }
            return
        default: break
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
            (isInString, isEscaped) = (true, false)
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
        (isInString, isEscaped) = (byte == JSONText.quote, false)
        depth = byte == JSONText.openBrace || byte == JSONText.openBracket ? 1 : 0
        place = .inValue
    }

    /// Whether the value that ends with this byte has it as its last one.
    private var endedByItself: Bool {
        guard let first = buffer.first else { return false }
        return first == JSONText.quote || first == JSONText.openBrace || first == JSONText.openBracket
    }

    /// Takes a byte of a value; whether the value goes on behind it.
    private mutating func continues(_ byte: UInt8) -> Bool {
        if isInString {
            buffer.append(byte)
            return isInStringAfter(byte) || depth > 0
        }
        switch byte {
        case JSONText.openBrace, JSONText.openBracket: depth += 1
        case JSONText.closeBrace, JSONText.closeBracket:
            if depth == 0 { return false }
            depth -= 1
            buffer.append(byte)
            return depth > 0
        case JSONText.quote: isInString = true
        case JSONText.comma where depth == 0: return false
        default: if depth == 0, JSONText.isSpace(byte) { return false }
        }
        buffer.append(byte)
        return true
    }

    /// Whether a string goes on behind a byte of it.
    private mutating func isInStringAfter(_ byte: UInt8) -> Bool {
        if isEscaped {
            isEscaped = false
        } else if byte == JSONText.backslash {
            isEscaped = true
        } else if byte == JSONText.quote {
            isInString = false
        }
        return isInString
    }

    private func hand(_ take: (Piece) -> Void) {
        take(Piece(rawKey: rawKey, key: key, isElement: isElement, bytes: buffer, offset: start))
    }
}
