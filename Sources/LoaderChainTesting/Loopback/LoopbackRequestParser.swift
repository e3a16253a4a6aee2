import LoaderChain
import LoaderChainPlatformFoundation

/// Parses the bytes of one connection into requests.
///
/// A value without a socket: ``feed(_:)`` appends bytes, in pieces of any size, and ``next()`` returns what they contain. Every
/// byte is checked as soon as it is there, so an error is found at the same byte however the bytes were split, and before the
/// client has sent the rest.
package struct LoopbackRequestParser: Sendable {
    /// The content of the bytes so far.
    package enum Outcome: Sendable, Hashable {
        case needsMore
        /// A head is complete, and its client waits for `100 Continue`. Returned once for each request.
        case continueExpected
        /// A request is complete; its bytes have been removed from the buffer.
        case request(LoopbackRequest)
        /// The bytes are not HTTP, or too many. Nothing more is read from this connection.
        case refused(LoopbackRefusal)
    }

    /// The expected content of the bytes after the cursor.
    private enum Stage: Sendable {
        case requestLine
        case fields(LoopbackHead)
        case body(LoopbackHead, length: Int)
        case chunkLine(LoopbackHead)
        case chunk(LoopbackHead, remaining: Int)
        case chunkEnd(LoopbackHead)
        case trailers(LoopbackHead, start: Int)
        case refused(LoopbackRefusal)
    }

    private let limits: LoopbackLimits
    private let connection: Int
    /// The bytes from the first one of the current request.
    private var buffer: [UInt8] = []
    /// The first byte that was not parsed yet: within a line, the beginning of that line.
    private var cursor = 0
    /// How far the current line has been searched for its end.
    private var scanned = 0
    /// The lines of the header or trailer that is being read; not a part of `stage`, so that they grow in place.
    private var fields = HTTPHeaders()
    private var chunks = Data()
    /// How many bytes of chunk extensions the request has used.
    private var extensionBytes = 0
    private var stage = Stage.requestLine

    package init(limits: LoopbackLimits = LoopbackLimits(), connection: Int = 1) {
        self.limits = limits
        self.connection = connection
    }

    package mutating func feed(_ bytes: some Sequence<UInt8>) {
        if case .refused = stage { return }  // What follows a fault has no meaning, and is not worth keeping.
        buffer.append(contentsOf: bytes)
    }

    /// Parses to the end of the bytes.
    package mutating func next() -> Outcome {
        do throws(LoopbackRefusal) {
            while true {
                if let outcome = try step() { return outcome }
            }
        } catch {
            stage = .refused(error)
            buffer = []
            return .refused(error)
        }
    }

    /// Parses one element; returns nil if another may follow it.
    private mutating func step() throws(LoopbackRefusal) -> Outcome? {
        switch stage {
        case .requestLine:
            guard let line = try takeHeadLine() else { return .needsMore }
            // A client may send an extra empty line after a request.
            if !line.isEmpty { stage = .fields(try LoopbackHead(requestLine: line)) }
        case .fields(let head):
            guard let line = try takeHeadLine() else { return .needsMore }
            if line.isEmpty { return try begin(head) }
            try addField(line)
        case .body(let head, let length):
            guard buffer.count - cursor >= length else { return .needsMore }
            let body = Data(buffer[cursor..<cursor + length])
            cursor += length
            return finish(head, body: body)
        case .chunkLine(let head):
            let tooLong = LoopbackRefusal.badRequest("The line of a chunk's size is too long.")
            guard let line = try takeLine(until: cursor + limits.headBytes, else: tooLong) else { return .needsMore }
            let size = try chunkSize(line)
            stage = size > 0 ? .chunk(head, remaining: size) : .trailers(head, start: cursor)
        case .chunk(let head, let remaining):
            return takeChunk(of: head, remaining)
        case .chunkEnd(let head):
            return try takeChunkEnd(of: head)
        case .trailers(let head, let start):
            guard let line = try takeHeadLine(from: start) else { return .needsMore }
            if line.isEmpty { return finish(head, body: chunks) }
            try addField(line)
        case .refused(let refusal):
            return .refused(refusal)
        }
        return nil
    }

    /// Ends the head, and decides what follows.
    private mutating func begin(_ head: LoopbackHead) throws(LoopbackRefusal) -> Outcome? {
        var head = head
        swap(&head.headers, &fields)
        switch try head.framing(limits: limits) {
        case .length(0):
            return finish(head, body: Data())
        case .length(let length):
            stage = .body(head, length: length)
        case .chunked:
            stage = .chunkLine(head)
        }
        return head.expectsContinue ? .continueExpected : nil
    }

    /// Removes the request from the buffer, and prepares for the next one.
    private mutating func finish(_ head: LoopbackHead, body: Data) -> Outcome {
        let request = LoopbackRequest(
            method: head.method, target: head.target, minorVersion: head.minorVersion, headers: head.headers,
            trailers: fields, body: body, raw: Data(buffer[..<cursor]), connection: connection)
        buffer.removeFirst(cursor)
        cursor = 0
        scanned = 0
        fields = [:]
        chunks = Data()
        extensionBytes = 0
        stage = .requestLine
        return .request(request)
    }
}

extension LoopbackRequestParser {
    private mutating func takeChunk(of head: LoopbackHead, _ remaining: Int) -> Outcome? {
        let piece = buffer[cursor...].prefix(remaining)
        guard !piece.isEmpty else { return .needsMore }
        chunks.append(contentsOf: piece)
        cursor += piece.count
        scanned = cursor
        stage = piece.count < remaining ? .chunk(head, remaining: remaining - piece.count) : .chunkEnd(head)
        return nil
    }

    private mutating func takeChunkEnd(of head: LoopbackHead) throws(LoopbackRefusal) -> Outcome? {
        guard buffer[cursor...].prefix(2).elementsEqual("\r\n".utf8.prefix(buffer.count - cursor)) else {
            throw .badRequest("A chunk is longer than its size.")
        }
        guard buffer.count >= cursor + 2 else { return .needsMore }
        cursor += 2
        scanned = cursor
        stage = .chunkLine(head)
        return nil
    }

    private mutating func addField(_ line: ArraySlice<UInt8>) throws(LoopbackRefusal) {
        let field = try LoopbackHead.field(line)
        fields.append(field.value, for: field.name)
    }

    /// Reads `size [; extension]`.
    private mutating func chunkSize(_ line: ArraySlice<UInt8>) throws(LoopbackRefusal) -> Int {
        let digits = line.prefix { ASCII.hexadecimalValue($0) != nil }
        guard let size = Hexadecimal.value(of: digits) else {
            throw .badRequest("The size of a chunk is missing or too large.")
        }
        let tail = ASCII.trimmed(line[digits.endIndex...])
        guard tail.isEmpty || tail.first == UInt8(ascii: ";") else {
            throw .badRequest("The size of a chunk is not hexadecimal.")
        }
        extensionBytes += line.count - digits.count
        guard extensionBytes <= limits.headBytes else {
            throw .badRequest("The extensions of the chunks are too long.")
        }
        guard size <= UInt64(limits.bodyBytes - chunks.count) else { throw .bodyTooLarge(limits.bodyBytes) }
        return Int(size)
    }

    /// Removes the line at the cursor, which is one of a head or of a trailer that begins at `start`.
    private mutating func takeHeadLine(from start: Int = 0) throws(LoopbackRefusal) -> ArraySlice<UInt8>? {
        try takeLine(until: start + limits.headBytes, else: .headTooLarge(limits.headBytes))
    }

    /// Removes the line at the cursor from the buffer, without its CRLF; returns nil if its end has not arrived.
    ///
    /// Only CRLF ends a line, because readers that disagree about line ends can be attacked with request smuggling.
    private mutating func takeLine(
        until end: Int, else refusal: LoopbackRefusal
    ) throws(LoopbackRefusal) -> ArraySlice<UInt8>? {
        while scanned < buffer.count {
            guard scanned < end else { throw refusal }
            let byte = buffer[scanned]
            let isAfterReturn = scanned > cursor && buffer[scanned - 1] == ASCII.carriageReturn
            scanned += 1
            switch (isAfterReturn, byte) {
            case (true, UInt8(ascii: "\n")):
                defer { cursor = scanned }
                return buffer[cursor..<scanned - 2]
            case (true, _), (false, UInt8(ascii: "\n")):
                throw .badRequest("A line does not end with CRLF.")
            case (false, _) where ASCII.isForbiddenInValue(byte) && byte != ASCII.carriageReturn:
                throw .badRequest("A line has a control character.")
            default:
                continue
            }
        }
        return nil
    }
}
