import Dispatch
import LoaderChain
import LoaderChainPlatformC
import LoaderChainPlatformFoundation

/// A minimal HTTP client: a connection for each request, and bodies with an announced length.
final class SocketTerminal: HTTPLoader, @unchecked Sendable {
    private let port: UInt16
    private let queue = DispatchQueue(label: "terminal", attributes: .concurrent)

    /// The server's time limit, in milliseconds.
    private let patience: Int

    init(port: UInt16, patience seconds: Double = 0.5) {
        self.port = port
        patience = Int(seconds * 1_000)
    }

    override func load(task: HTTPTask) {
        queue.async { [self] in
            do {
                task.complete(.success(try exchange(try task.request.encoded())))
            } catch let error as HTTPError {
                task.complete(.failure(error))
            } catch {
                fail(task, .connectionLost, underlyingError: error)
            }
        }
    }

    private struct Lost: Error {}

    private func exchange(_ request: EncodedRequest) throws -> HTTPResponse {
        let descriptor = try connection()
        defer { close(descriptor) }
        var head = "\(request.method) \(request.url.path(percentEncoded: true)) HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        for field in request.headers { head += "\(field.name): \(field.value)\r\n" }
        try send(Data((head + "Connection: close\r\n\r\n").utf8), to: descriptor)
        var reader = request.content.makeReader()
        while let piece = try reader.read(upTo: 16_384) { try send(piece, to: descriptor) }

        var answer: [UInt8] = []
        func readMore() throws {
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { throw Lost() }
            answer += buffer[..<count]
        }
        func headEnd() -> Int? {
            answer.indices.dropLast(3).first { answer[$0..<$0 + 4].elementsEqual("\r\n\r\n".utf8) }.map { $0 + 4 }
        }
        while headEnd() == nil { try readMore() }
        guard let headEnd = headEnd(), let status = Int(String(decoding: answer[9..<12], as: UTF8.self)) else {
            throw Lost()
        }
        let fields = String(decoding: answer[..<headEnd], as: UTF8.self).lowercased().split(separator: "\r\n")
        let length = fields.first { $0.hasPrefix("content-length:") }.flatMap { Int($0.drop { !$0.isNumber }) } ?? 0
        while answer.count - headEnd < length { try readMore() }
        return HTTPResponse(
            request: request.request, status: HTTPStatus(status), body: Data(answer[headEnd...].prefix(length)))
    }

    private func connection() throws -> CInt {
        #if canImport(Glibc)
            let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        #if canImport(Darwin)
            // A server that ends the connection would end the process.
            var isQuiet: CInt = 1
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isQuiet, socklen_t(MemoryLayout<CInt>.size))
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        // A server that never answers counts as unreachable.
        var patience = timeval()
        patience.tv_sec = .init(self.patience / 1_000)
        patience.tv_usec = .init(self.patience % 1_000 * 1_000)
        let isPatient = setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        guard descriptor >= 0, code == 0, isPatient == 0 else {
            close(descriptor)
            throw Lost()
        }
        return descriptor
    }

    private func send(_ bytes: Data, to descriptor: CInt) throws {
        #if canImport(Darwin)
            let flags: CInt = 0
        #else
            let flags = CInt(MSG_NOSIGNAL)
        #endif
        try bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let part = UnsafeRawBufferPointer(rebasing: rest)
                let count = sendBytes(descriptor, part.baseAddress, part.count, flags)
                guard count > 0 else { throw Lost() }
                rest = rest.dropFirst(count)
            }
        }
    }
}

// A function, because the method above would hide the system's call.
private func sendBytes(_ descriptor: CInt, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: CInt) -> Int {
    send(descriptor, bytes, count, flags)
}
