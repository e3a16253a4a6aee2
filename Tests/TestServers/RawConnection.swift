import Foundation
import LoaderChain
import LoaderChainTesting

extension LoopbackServer {
    /// A proxy that opens a tunnel to a port of this machine, whatever it is asked for, after sending a head.
    package static func tunnel(to port: Int, answering head: String) throws -> LoopbackServer {
        try LoopbackServer { client in
            _ = client.readHead()
            client.send(head)
            guard let origin = client.opening(port) else { return }
            let back = try? SystemThread { origin.copyAll(to: client) }
            client.copyAll(to: origin)
            back?.join()
            origin.socket.close()
        }
    }
}

/// The bytes of a connection, for servers that know no HTTP.
extension LoopbackConnection {
    /// The bytes up to the end of a head; nil if the client has left before.
    package func readHead() -> String? {
        var head = [UInt8]()
        // What follows the head stays unread.
        var byte: [UInt8] = [0]
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            guard let next = receive(into: &byte) else { return nil }
            head += next
        }
        return String(decoding: head, as: UTF8.self)
    }

    /// At most so many of the next bytes; none at the end.
    package func receive(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        return receive(into: &bytes).map(Array.init) ?? []
    }

    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool { send(Data(bytes)) }

    package func send(_ text: String) { send(Array(text.utf8)) }

    /// Passes on everything until one side ends, and ends the other.
    fileprivate func copyAll(to other: LoopbackConnection) {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while let bytes = receive(into: &buffer), other.send(Data(bytes)) {}
        other.socket.end()
    }
}
