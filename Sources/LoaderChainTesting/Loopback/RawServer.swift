#if os(Linux) || os(macOS)
    import LoaderChain
    import LoaderChainPlatformC

    /// A server of raw connections, each on a thread of its own, for what is not HTTP: tunnels, and replies that no parser takes.
    ///
    /// It lasts as long as the test's process.
    package final class RawServer: Sendable {
        package let port: Int
        private let listener: Int32

        package init(_ serve: @escaping @Sendable (RawConnection) -> Void) throws {
            (listener, port) = try RawConnection.listen(backlog: 128)
            let listener = listener
            try SystemThread {
                while true {
                    let connection = accept(listener, nil, nil)
                    guard connection >= 0 else { break }
                    // Without a thread, the connection closes.
                    try? SystemThread { serve(RawConnection(connection)) }.detach()
                }
                close(listener)
            }.detach()
        }

        // Wakes the thread, which closes the descriptor: closed here, its number could be another file's by then.
        deinit { shutdown(listener, Int32(SHUT_RDWR)) }

        /// A proxy that opens a tunnel to a port of this machine, whatever it is asked for, after sending a head.
        package static func tunnel(to port: Int, answering head: String) throws -> RawServer {
            try RawServer { client in
                _ = client.readHead()
                client.send(head)
                let origin = RawConnection(to: port)
                try? SystemThread { origin.copyAll(to: client) }.detach()
                client.copyAll(to: origin)
            }
        }
    }

    /// A blocking connection, closed when it is released.
    package final class RawConnection: Sendable {
        private let descriptor: Int32

        package init(_ descriptor: Int32) { self.descriptor = descriptor }

        /// Connects to a port of this machine.
        package convenience init(to port: Int) {
            self.init(Self.makeSocket())
            var address = Self.address(port: port)
            _ = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }

        deinit { close(descriptor) }

        /// The bytes up to the end of a head; nil if the client has left before.
        package func readHead() -> String? {
            var head = [UInt8]()
            var byte: UInt8 = 0
            while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
                guard recv(descriptor, &byte, 1, 0) == 1 else { return nil }
                head.append(byte)
            }
            return String(decoding: head, as: UTF8.self)
        }

        /// A number of bytes; nil if the client has left before.
        package func read(_ count: Int) -> [UInt8]? {
            var bytes = [UInt8](repeating: 0, count: count)
            return recv(descriptor, &bytes, count, Int32(MSG_WAITALL)) == count ? bytes : nil
        }

        /// At most so many of the next bytes; none at the end.
        package func receive(_ count: Int) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: count)
            let received = recv(descriptor, &bytes, count, 0)
            return Array(bytes.prefix(max(0, received)))
        }

        package func send(_ text: String) { send(Array(text.utf8)) }

        @discardableResult
        package func send(_ bytes: [UInt8]) -> Bool {
            var sent = 0
            while sent < bytes.count {
                let count = bytes.withUnsafeBytes { buffer in
                    systemSend(descriptor, buffer.baseAddress.map { $0 + sent }, buffer.count - sent)
                }
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }

        /// Passes on everything until one side ends, and ends the other.
        fileprivate func copyAll(to other: RawConnection) {
            var buffer = [UInt8](repeating: 0, count: 16 << 10)
            while true {
                let count = recv(descriptor, &buffer, buffer.count, 0)
                guard count > 0, other.send(Array(buffer.prefix(count))) else { break }
            }
            other.end()
        }

        /// Ends the connection, whatever else refers to it.
        package func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

        /// Whether something listens on a port of this machine.
        package static func isAccepted(by port: Int) -> Bool {
            let descriptor = makeSocket()
            defer { close(descriptor) }
            var address = Self.address(port: port)
            return withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
        }

        /// A socket that listens at an unused port of this machine.
        package static func listen(backlog: Int32) throws(SystemError) -> (socket: Int32, port: Int) {
            let bound = try LoopbackPorts.bind { () throws(SystemError) in
                let listener = makeSocket()
                var address = Self.address(port: 0)
                var length = socklen_t(MemoryLayout<sockaddr_in>.size)
                let isBound = withUnsafeMutablePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                        bind(listener, pointer, length) == 0 && getsockname(listener, pointer, &length) == 0
                    }
                }
                guard isBound else { throw SystemError("bind", code: EADDRNOTAVAIL) }
                return (listener, Int(UInt16(bigEndian: address.sin_port)))
            } close: {
                close($0)
            }
            guard systemListen(bound.socket, backlog) == 0 else { throw SystemError("listen") }
            return bound
        }

        private static func makeSocket() -> Int32 {
            #if canImport(Glibc)
                socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            #else
                socket(AF_INET, SOCK_STREAM, 0)
            #endif
        }

        private static func address(port: Int) -> sockaddr_in {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = UInt16(port).bigEndian
            address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
            return address
        }
    }

    // Outside the class, which has methods of these names.
    private func systemListen(_ descriptor: Int32, _ backlog: Int32) -> Int32 { listen(descriptor, backlog) }
    private func systemSend(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
        #if canImport(Darwin)
            send(descriptor, bytes, count, 0)
        #else
            send(descriptor, bytes, count, Int32(MSG_NOSIGNAL))
        #endif
    }
#endif
