#if os(Linux)
    import LoaderChain
    import LoaderChainPlatformC

    /// Reads the heads of responses from the lines that libcurl passes on: a pure value.
    ///
    /// libcurl passes on every line that a server sends in a head, and tells neither where a head begins nor whether it was whole: a
    /// connection that breaks within a head ends as a response without a body. So the lines are understood here once more.
    struct HeadReader {
        struct Head: Sendable {
            /// The version of HTTP, such as `1.1` or `2`.
            var version: String
            var status: HTTPStatus
            var headers: HTTPHeaders
        }

        /// What a line has led to.
        enum Event {
            /// More of the head or of the trailers is to come.
            case nothing
            /// A head has ended that another one follows, such as 103.
            case interim
            case head(Head)
            /// This is no response; the reason is a sentence.
            case refused(String)
        }

        private enum Phase {
            /// No line of the next head has come.
            case before
            case within
            /// The head of the response was whole; what follows are trailers.
            case after
        }

        private var phase = Phase.before
        private var version = ""
        private var status = HTTPStatus.ok
        private var fields: [HTTPHeaders.Field] = []
        /// The bytes of the head, with those of interim heads before it, or of the trailers so far.
        private var length = 0

        /// The most bytes of a head, and of trailers; libcurl has the same limit from version 8.3 on.
        private static let mostBytes = 300 << 10

        private var continuations = 0
        private static let mostContinuations = 100

        /// Whether the head of the response has come, from its first to its last line.
        var isWhole: Bool { phase == .after }

        var trailers: HTTPHeaders { isWhole ? HTTPHeaders(fields) : [:] }

        /// What the lines are of, for sentences.
        private var part: String { isWhole ? "trailers" : "head" }

        /// Takes the next line, with or without its end.
        mutating func take(_ line: UnsafeRawBufferPointer) -> Event {
            let text = Line(line)
            length += line.count
            if let start = line.baseAddress, memchr(start, 0, line.count) != nil {
                return .refused("There is a NUL in the \(part)")
            }
            if length > Self.mostBytes { return .refused("There are more than \(Self.mostBytes) bytes in the \(part)") }
            switch phase {
            case .after:
                // A server that sends another head here could make its parts pass for those of the first.
                if text.isStatusLine { return .refused("Another response follows the head") }
                // After HTTP/1, some versions of libcurl pass on the blank line that ends the trailers.
                return text.isEmpty ? .nothing : add(text)
            case .before:
                guard let (version, status) = text.status else {
                    return .refused("The head begins with no status line")
                }
                (self.version, self.status, phase) = (version, status, .within)
                return .nothing
            case .within:
                if text.isEmpty { return end() }
                return add(text)
            }
        }

        private mutating func add(_ line: Line) -> Event {
            if line.isContinuation, let last = fields.popLast() {
                // A line that goes on with the one before it (RFC 9112, 5.2). Each copies the value.
                continuations += 1
                guard continuations <= Self.mostContinuations else {
                    return .refused("The fields of the \(part) go on over more than \(Self.mostContinuations) lines")
                }
                let more = line.text(from: 0)
                fields.append(
                    .init(last.name, last.value.isEmpty || more.isEmpty ? last.value + more : last.value + " " + more))
                return .nothing
            }
            if line.isStatusLine { return .refused("A head begins within another one") }
            guard let field = line.field else { return .refused("A line of the \(part) has no name") }
            if fields.isEmpty { fields.reserveCapacity(16) }
            fields.append(field)
            return .nothing
        }

        private mutating func end() -> Event {
            if status == .switchingProtocols {
                return .refused("The server changes the protocol, which was not asked for")
            }
            let headers = HTTPHeaders(replace(&fields, with: []))
            if status.isInformational {
                phase = .before
                return .interim
            }
            length = 0
            phase = .after
            if let reason = Self.lengthFault(headers) ?? Self.codingFault(headers) { return .refused(reason) }
            return .head(Head(version: version, status: status, headers: headers))
        }

        /// What is wrong with the announced length: libcurl ignores one that is too large, and believes the last of several.
        private static func lengthFault(_ headers: HTTPHeaders) -> String? {
            // Several fields are joined here, because a list in one field is the same (RFC 9110, 8.6).
            guard let length = headers["Content-Length"], !isNumber(length), !headers.contains("Transfer-Encoding")
            else { return nil }
            let lengths = Set(headers.list(for: "Content-Length"))
            if lengths.count > 1 {
                return "The response has several lengths: \(ASCII.quoted(lengths.sorted().joined(separator: ", ")))"
            }
            return lengths.first.map(isNumber) == true
                ? nil : "The response has a length that is none: \(ASCII.quoted(length))"
        }

        /// What is wrong with the transfer coding: some versions of libcurl decode others than chunked, which nobody has asked for, and
        /// take one that was cut for whole; some pass the encoded bytes on.
        private static func codingFault(_ headers: HTTPHeaders) -> String? {
            guard headers.contains("Transfer-Encoding") else { return nil }
            let unknown = headers.list(for: "Transfer-Encoding").first {
                !ASCII.isEqualIgnoringCase($0, "chunked") && !ASCII.isEqualIgnoringCase($0, "identity")
            }
            return unknown.map { "The response has a transfer coding that was not asked for: \(ASCII.quoted($0))" }
        }

        private static func isNumber(_ text: String) -> Bool {
            text.utf8.allSatisfy(ASCII.isDigit) && Int64(text) != nil
        }
    }

    /// A line of a head, in libcurl's memory.
    private struct Line {
        /// The bytes, without the end of the line.
        private let bytes: UnsafeRawBufferPointer

        init(_ line: UnsafeRawBufferPointer) {
            var end = line.count
            if end > 0, line[end - 1] == UInt8(ascii: "\n") { end -= 1 }
            if end > 0, line[end - 1] == UInt8(ascii: "\r") { end -= 1 }
            bytes = UnsafeRawBufferPointer(rebasing: line[..<end])
        }

        var isEmpty: Bool { bytes.isEmpty }
        var isContinuation: Bool { bytes.first.map(ASCII.isBlank) ?? false }
        var isStatusLine: Bool { bytes.first == UInt8(ascii: "H") && bytes.starts(with: "HTTP/".utf8) }

        private static let versions = ["1.1", "1.0", "2", "3"]

        /// The version and the status of a line such as `HTTP/1.1 200 OK` or `HTTP/2 200 `.
        var status: (String, HTTPStatus)? {
            guard isStatusLine, let space = bytes.firstIndex(of: ASCII.space), bytes.count >= space + 4,
                bytes.count == space + 4 || bytes[space + 4] == ASCII.space
            else { return nil }
            var code = 0
            for index in space + 1...space + 3 {
                guard ASCII.isDigit(bytes[index]) else { return nil }
                code = code * 10 + Int(bytes[index] - UInt8(ascii: "0"))
            }
            let version = text(5, space)
            return code < 100 || !Self.versions.contains(version) ? nil : (version, HTTPStatus(code))
        }

        /// The name and the value; nil without a name.
        var field: HTTPHeaders.Field? {
            guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > 0 else { return nil }
            return HTTPHeaders.Field(text(0, colon), text(from: colon + 1))
        }

        /// The text from an index on, without blanks around it.
        func text(from start: Int) -> String {
            var (start, end) = (start, bytes.count)
            while start < end, ASCII.isBlank(bytes[start]) { start += 1 }
            while start < end, ASCII.isBlank(bytes[end - 1]) { end -= 1 }
            return text(start, end)
        }

        private func text(_ start: Int, _ end: Int) -> String {
            String(decoding: UnsafeRawBufferPointer(rebasing: bytes[start..<end]), as: UTF8.self)
        }
    }
#endif
