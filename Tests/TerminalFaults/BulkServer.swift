import Foundation
import LoaderChain

/// Sends or discards any number of bytes without keeping them in memory, and sends the rest if requested.
final class BulkServer: @unchecked Sendable {
    let port: Int
    private let listener: Int32
    private let size: Int
    private let contentType: String
    private let block: [UInt8]
    private let mostAtOnce: Int
    private let received = Locked(0)

    /// - Parameters:
    ///   - size: the size of the response to a GET, in bytes.
    ///   - line: the line to repeat; its length is a power of two, and at most 64 KiB.
    ///   - mostAtOnce: the number of body bytes after which the server closes the connection.
    init(
        size: Int, of line: [UInt8] = [0], contentType: String = "application/octet-stream", mostAtOnce: Int = .max
    ) throws {
        (self.size, self.contentType, self.mostAtOnce) = (size, contentType, mostAtOnce)
        block = Array(repeatElement(line, count: (64 << 10) / line.count).joined())
        #if canImport(Glibc)
            listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            listener = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        #if canImport(Darwin)
            // A client that leaves early would end the process.
            signal(SIGPIPE, SIG_IGN)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, length) == 0 && listen(listener, 128) == 0
                    && getsockname(listener, pointer, &length) == 0
            }
        }
        guard isListening else { throw POSIXError(.EADDRNOTAVAIL) }
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [self] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                Thread.detachNewThread { [self] in
                    while serve(connection) {}
                    close(connection)
                }
            }
        }
    }

    /// The number of body bytes that have arrived.
    var bytesReceived: Int { received.withLock { $0 } }

    /// Responds to one request, and returns whether there may be another.
    private func serve(_ connection: Int32) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        var head = Data()
        while head.range(of: Data("\r\n\r\n".utf8)) == nil {
            let count = recv(connection, &buffer, 1, 0)  // No byte of the next request.
            guard count > 0 else { return false }
            head.append(contentsOf: buffer.prefix(count))
        }
        let text = String(decoding: head, as: UTF8.self)
        var left = Self.field("content-length", of: text).flatMap { Int($0) } ?? 0
        while left > 0 {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return false }
            left -= count
            received.withLock { $0 += count }
        }
        let size = text.hasPrefix("GET") ? size : 0
        var place = Self.field("range", of: text).flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
        let range = "Content-Range: bytes \(place)-\(size - 1)/\(size)\r\n"
        let reply =
            "HTTP/1.1 \(place > 0 ? "206 Partial Content" : "200 OK")\r\nContent-Length: \(size - place)\r\nETag: \"1\"\r\n"
            + "Content-Type: \(contentType)\r\n\(place > 0 ? range : "")\r\n"
        let end = min(size, place.addingReportingOverflow(mostAtOnce).overflow ? size : place + mostAtOnce)
        // The beginning of the body is sent with the head: two small packets would wait for each other.
        var piece = Array(reply.utf8) + next(at: place, before: end)
        place += piece.count - reply.utf8.count
        while !piece.isEmpty {
            guard send(connection, piece, piece.count, Self.flags) == piece.count else { return false }
            piece = Array(next(at: place, before: end))
            place += piece.count
        }
        return end == size
    }

    /// The beginning of the body is sent with the head, because two small packets would wait for each other.
    private func next(at place: Int, before end: Int) -> ArraySlice<UInt8> {
        let first = place % block.count
        return block[first..<max(first, min(block.count, first + end - place))]
    }

    private static func field(_ name: String, of head: String) -> String? {
        head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name + ":") }
            .map { $0.drop { $0 != ":" }.dropFirst().trimmingCharacters(in: .whitespaces) }
    }

    #if canImport(Darwin)
        private static let flags: Int32 = 0
    #else
        private static let flags = Int32(MSG_NOSIGNAL)
    #endif
}
