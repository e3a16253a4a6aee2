import Foundation
import LoaderChain

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Sends or discards any number of bytes without keeping them in memory.
final class BulkServer: @unchecked Sendable {
    let port: Int
    private let listener: Int32
    private let size: Int
    private let received = Locked(0)

    /// - Parameter size: the size of the response to a GET, in bytes.
    init(size: Int) throws {
        self.size = size
        #if canImport(Glibc)
            listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            listener = socket(AF_INET, SOCK_STREAM, 0)
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
            let count = recv(connection, &buffer, 1, 0)  // Not a byte of what follows.
            guard count > 0 else { return false }
            head.append(contentsOf: buffer.prefix(count))
        }
        let text = String(decoding: head, as: UTF8.self)
        let expected = text.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
            .flatMap { Int($0.drop { $0 != ":" }.dropFirst().trimmingCharacters(in: .whitespaces)) }
        var left = expected ?? 0
        while left > 0 {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return false }
            left -= count
            received.withLock { $0 += count }
        }
        let size = text.hasPrefix("GET") ? size : 0
        // The beginning of the body is sent with the head: two small packets would wait for each other.
        let first = min(size, buffer.count)
        let reply = Array("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n".utf8) + buffer.prefix(first)
        guard send(connection, reply, reply.count, Self.flags) == reply.count else { return false }
        left = size - first
        while left > 0 {
            let count = send(connection, buffer, min(left, buffer.count), Self.flags)
            guard count > 0 else { return false }
            left -= count
        }
        return true
    }

    #if canImport(Darwin)
        private static let flags: Int32 = 0
    #else
        private static let flags = Int32(MSG_NOSIGNAL)
    #endif
}
