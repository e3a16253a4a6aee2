import LoaderChain
import LoaderChainPlatformC
import LoaderChainPlatformFoundation
import Testing

@testable import LoaderChainTesting

/// A client that sends and returns raw bytes.
final class LoopbackClient {
    /// How a connection ended.
    enum End: Equatable {
        case orderly
        case reset
    }

    private var descriptor: Int32
    private var unread: [UInt8] = []

    /// Whether something of the server's can be read at once.
    var hasBytes: Bool {
        var look = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&look, 1, 0) > 0
    }

    init(_ server: LoopbackServer) throws {
        descriptor = try #require(LocalSocket.connected(to: server.port))
        // What a test sends fits in whole, and arrives however long this thread waits for a processor.
        var room: Int32 = 1 << 20
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &room, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { hangUp() }

    func hangUp() {
        if descriptor >= 0 { _ = close(descriptor) }
        descriptor = -1
    }

    /// Resets the connection.
    func abort() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        hangUp()
    }

    func finishSending() {
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Sends bytes; a server that has closed the connection is not an error.
    func send(_ bytes: some Collection<UInt8>) {
        Array(bytes).withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = LocalSocket.send(UnsafeRawBufferPointer(rebasing: rest), to: descriptor)
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
    }

    func send(_ text: String) {
        send(text.utf8)
    }

    /// Sends a request without a body.
    func get(_ target: String, method: HTTPMethod = .get, headers: HTTPHeaders = [:]) {
        let lines = headers.map { "\($0.name): \($0.value)\r\n" }.joined()
        send("\(method.rawValue) \(target) HTTP/1.1\r\nHost: test\r\n\(lines)\r\n")
    }

    /// Everything up to the end of the connection, and how it ended.
    func readToEnd() -> (bytes: Data, end: End) {
        var all = unread
        unread = []
        while true {
            switch receive() {
            case .success(let bytes) where bytes.isEmpty: return (Data(all), .orderly)
            case .success(let bytes): all += bytes
            case .failure: return (Data(all), .reset)
            }
        }
    }

    /// The next `count` bytes.
    func read(_ count: Int) throws -> Data {
        while unread.count < count { try readMore() }
        defer { unread.removeFirst(count) }
        return Data(unread[..<count])
    }

    /// The next head, and its body with a length or chunked.
    func readReply(hasBody: Bool = true) throws -> Reply {
        let head = try readThrough("\r\n\r\n")
        // CRLF is one character.
        var lines = head.dropLast(2).split(separator: "\r\n", omittingEmptySubsequences: false).map(String.init)
        let statusLine = lines.removeFirst()
        var headers = HTTPHeaders()
        for line in lines {
            let colon = try #require(line.firstIndex(of: ":"))
            headers.append(String(line[line.index(colon, offsetBy: 2)...]), for: String(line[..<colon]))
        }
        var reply = Reply(statusLine: statusLine, headers: headers)
        guard hasBody else { return reply }
        if headers["Transfer-Encoding"] == "chunked" {
            while true {
                let size = try #require(Int(readThrough("\r\n").dropLast(), radix: 16))
                if size == 0 { break }
                reply.chunks.append(try read(size))
                #expect(try read(2) == Data("\r\n".utf8))
            }
            while case let line = try readThrough("\r\n"), line != "\r\n" { reply.trailers.append(line) }
            reply.body = reply.chunks.reduce(Data(), +)
        } else {
            reply.body = try read(Int(headers["Content-Length"] ?? "0") ?? 0)
        }
        return reply
    }

    struct Reply {
        let statusLine: String
        let headers: HTTPHeaders
        var body = Data()
        var chunks: [Data] = []
        var trailers: [String] = []

        var status: HTTPStatus { HTTPStatus(Int(statusLine.dropFirst(9).prefix(3)) ?? 0) }
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    private struct Ended: Error {}

    private func readThrough(_ mark: String) throws -> String {
        let mark = Array(mark.utf8)
        var start = 0
        while true {
            while start + mark.count <= unread.count {
                if unread[start..<start + mark.count].elementsEqual(mark) {
                    return String(decoding: try read(start + mark.count), as: UTF8.self)
                }
                start += 1
            }
            try readMore()
        }
    }

    private func readMore() throws {
        let bytes = try receive().get()
        guard !bytes.isEmpty else { throw Ended() }
        unread += bytes
    }

    private func receive() -> Result<[UInt8], any Error> {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count >= 0 { return .success(Array(buffer[..<count])) }
            if errno != EINTR { return .failure(Ended()) }
        }
    }
}
