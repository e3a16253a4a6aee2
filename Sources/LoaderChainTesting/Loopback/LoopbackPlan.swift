import LoaderChain
import LoaderChainPlatformFoundation

/// The steps in which a connection sends one reply to one request.
///
/// Every decision about a reply is made here, without a socket. A plan that does not end with `.close` or `.reset` leaves the
/// connection open for the next request.
package struct LoopbackPlan: Sendable, Hashable {
    package enum Step: Sendable, Hashable {
        /// Sends bytes as fast as the client reads them.
        case send(Data)
        /// Sends bytes in portions, with a pause after each but the last.
        case drip(Data, portion: Int, interval: Duration)
        case wait(Duration)
        /// Waits until the test releases the reply.
        case hold
        /// Closes the connection in an orderly way. The last step.
        case close
        /// Resets the connection. The last step.
        case reset
    }

    package private(set) var steps: [Step] = []

    package init(_ reply: LoopbackReply, to request: LoopbackRequest) {
        self.init(Draft(reply, to: request), reply: reply)
    }

    private init(_ draft: Draft, reply: LoopbackReply) {
        let marks = reply.interruptions.map { (offset: draft.offset(of: $0.place), mark: $0.mark) }.enumerated()
            // `sort` is not guaranteed to be stable; marks at one place keep the order in which they were made.
            .sorted { ($0.element.offset, $0.offset) < ($1.element.offset, $1.offset) }
        var position = 0
        for (_, (offset, mark)) in marks {
            transmit(draft, position..<offset, pace: reply.pace)
            position = offset
            switch mark {
            case .wait(let duration): steps.append(.wait(duration))
            case .hold: steps.append(.hold)
            case .hangUp:
                steps.append(.close)
                return
            case .abort:
                steps.append(.reset)
                return
            }
        }
        transmit(draft, position..<draft.bytes.count, pace: reply.pace)
        if draft.closes { steps.append(.close) }
    }

    private mutating func transmit(_ draft: Draft, _ range: Range<Int>, pace: LoopbackReply.Pace?) {
        guard let pace else { return transmit(draft.bytes[range], pace: nil) }
        // The range may lie before or after the end of the head, or contain it.
        let border =
            pace.sparesHead ? draft.headCount.clamped(to: range.lowerBound...range.upperBound) : range.lowerBound
        transmit(draft.bytes[range.lowerBound..<border], pace: nil)
        transmit(draft.bytes[border..<range.upperBound], pace: pace)
    }

    private mutating func transmit(_ bytes: Data, pace: LoopbackReply.Pace?) {
        guard !bytes.isEmpty else { return }
        let bytes = Data(bytes)
        steps.append(pace.map { .drip(bytes, portion: $0.bytes, interval: $0.interval) } ?? .send(bytes))
    }
}

/// A reply as it is sent without interruptions.
private struct Draft {
    let bytes: Data
    let headCount: Int
    let closes: Bool

    init(_ reply: LoopbackReply, to request: LoopbackRequest) {
        if case .verbatim(let bytes) = reply.body {
            self.bytes = Data(bytes)
            headCount = 0
            closes = true
            return
        }
        var headers = reply.headers
        let hasNoBody = reply.status.isInformational || [.noContent, .notModified].contains(reply.status)
        let isFramed = headers.contains("Content-Length") || headers.contains("Transfer-Encoding")
        if !hasNoBody && !isFramed {
            switch reply.body {
            case .bytes(let bytes): headers.append(String(bytes.count), for: "Content-Length")
            case .chunks: headers.append("chunked", for: "Transfer-Encoding")
            case .verbatim: break  // Returned above.
            }
        }
        let saysClose = headers.list(for: "Connection", contains: "close")
        closes = saysClose || !request.keepsAlive
        if closes && !saysClose { headers.append("close", for: "Connection") }

        let head = Self.head(reply, headers: headers)
        headCount = head.count
        bytes = hasNoBody || request.method == .head ? head : head + Self.body(reply)
    }

    func offset(of place: LoopbackReply.Place) -> Int {
        switch place {
        case .start: 0
        case .head(let count): count.clamped(to: 0...headCount)
        case .body(let count): headCount + count.clamped(to: 0...bytes.count - headCount)
        case .end: bytes.count
        }
    }

    private static func head(_ reply: LoopbackReply, headers: HTTPHeaders) -> Data {
        var head = "HTTP/1.1 \(reply.status.rawValue) \(reply.reason)\r\n"
        for field in headers { head += "\(field.name): \(field.value)\r\n" }
        return Data((head + "\r\n").utf8)
    }

    private static func body(_ reply: LoopbackReply) -> Data {
        switch reply.body {
        case .bytes(let bytes), .verbatim(let bytes):
            return bytes
        case .chunks(let pieces, let trailers):
            var body = Data()
            // An empty chunk would end the body.
            for piece in pieces where !piece.isEmpty {
                body.append(contentsOf: "\(String(piece.count, radix: 16))\r\n".utf8)
                body.append(piece)
                body.append(contentsOf: "\r\n".utf8)
            }
            body.append(contentsOf: "0\r\n".utf8)
            for field in trailers { body.append(contentsOf: "\(field.name): \(field.value)\r\n".utf8) }
            body.append(contentsOf: "\r\n".utf8)
            return body
        }
    }
}
