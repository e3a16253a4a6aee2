import LoaderChain

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The steps by which a connection gives one reply to one request.
///
/// All that is to be decided about a reply is decided here, without a socket. A plan that does not end with `.close` or
/// `.reset` leaves the connection open for the next request.
package struct LoopbackPlan: Sendable, Hashable {
    /// One thing for the connection to do.
    package enum Step: Sendable, Hashable {
        /// Sends bytes as fast as the client takes them.
        case send(Data)
        /// Sends bytes in portions, with a pause between any two of them.
        case drip(Data, portion: Int, interval: Duration)
        /// Does nothing for a while.
        case wait(Duration)
        /// Does nothing until the test says so.
        case hold
        /// Ends the connection in good order. The last step.
        case close
        /// Ends the connection by a reset. The last step.
        case reset
    }

    /// The steps, in order.
    package private(set) var steps: [Step] = []

    /// Plans a reply to a request.
    package init(_ reply: LoopbackReply, to request: LoopbackRequest) {
        self.init(Draft(reply, to: request), reply: reply)
    }

    private init(_ draft: Draft, reply: LoopbackReply) {
        let marks = reply.interruptions.map { (offset: draft.offset(of: $0.place), mark: $0.mark) }.enumerated()
            // The sort is not stable by promise; marks at one place keep the order in which they were made.
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
        // The range may lie on either side of the head's end, or across it.
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

/// A reply as it goes over the wire if nothing interrupts it.
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
