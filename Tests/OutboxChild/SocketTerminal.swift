import Dispatch
import LoaderChain

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A minimal HTTP client: a connection for each request, and only the head of the response.
final class SocketTerminal: HTTPLoader, @unchecked Sendable {
    private let port: UInt16
    private let queue = DispatchQueue(label: "terminal", attributes: .concurrent)

    init(port: UInt16) { self.port = port }

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

        var answer = [UInt8]()
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !String(decoding: answer, as: UTF8.self).contains("\r\n\r\n") {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { throw Lost() }
            answer += buffer[..<count]
        }
        guard let status = Int(String(decoding: answer, as: UTF8.self).dropFirst(9).prefix(3)) else { throw Lost() }
        return HTTPResponse(request: request.request, status: HTTPStatus(status))
    }

    private func connection() throws -> CInt {
        #if canImport(Glibc)
            let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
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
        guard descriptor >= 0, code == 0 else {
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
