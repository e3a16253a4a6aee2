/// Makes TCP sockets at 127.0.0.1, which only this machine reaches.
///
/// The calls for that have other types and flags on every system. A socket is a descriptor, which its owner closes. Programs that are
/// started do not inherit it, and sending to a client that has left is an error, not a signal.
package enum LocalSocket {
    /// A socket that does not block, bound to a port, 0 standing for an unused one; nil if that fails, for the reason in `errno`.
    package static func bound(to port: UInt16 = 0) -> (descriptor: CInt, port: Int)? {
        guard let descriptor = made() else { return nil }
        setNonblocking(descriptor)
        // Allows the port to be used again while connections of a previous server linger, if both set the option.
        if port != 0 { set(SO_REUSEADDR, of: descriptor) }
        let bound = withAddress(port) { bind(descriptor, $0, $1) == 0 && getsockname(descriptor, $0, &$1) == 0 }
        guard bound.answer else {
            closeKeepingError(descriptor)
            return nil
        }
        // Not before `bind`, or it might return the port of another process.
        if port == 0 { set(SO_REUSEADDR, of: descriptor) }
        return (descriptor, Int(bound.port))
    }

    /// A socket that blocks, connected to a port; nil if nothing listens there.
    package static func connected(to port: Int) -> CInt? {
        guard let descriptor = made() else { return nil }
        guard withAddress(UInt16(port), { connect(descriptor, $0, $1) == 0 }).answer else {
            closeKeepingError(descriptor)
            return nil
        }
        return descriptor
    }

    /// Accepts the next connection, which blocks if you say so; -1 if there is none, for the reason in `errno`.
    package static func accepted(by listener: CInt, blocking: Bool = false) -> CInt {
        let descriptor = accept(listener, nil, nil)
        guard descriptor >= 0 else { return -1 }
        prepare(descriptor)
        // Some systems give a connection what its listener has set.
        if blocking { _ = fcntl(descriptor, F_SETFL, 0) } else { setNonblocking(descriptor) }
        return descriptor
    }

    /// Sends what fits, and returns how much that is; -1 for the reason in `errno`.
    package static func send(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt) -> Int {
        #if canImport(Darwin)
            Darwin.send(descriptor, bytes.baseAddress, bytes.count, 0)
        #elseif canImport(Glibc)
            Glibc.send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
        #elseif canImport(Musl)
            Musl.send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
        #endif
    }

    package static func setNonblocking(_ descriptor: CInt) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    private static func made() -> CInt? {
        #if canImport(Glibc)
            let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { return nil }
        prepare(descriptor)
        return descriptor
    }

    private static func prepare(_ descriptor: CInt) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        #if canImport(Darwin)
            set(SO_NOSIGPIPE, of: descriptor)
        #endif
    }

    private static func set(_ option: CInt, of descriptor: CInt) {
        var on: CInt = 1
        _ = setsockopt(descriptor, SOL_SOCKET, option, &on, socklen_t(MemoryLayout<CInt>.size))
    }

    private static func closeKeepingError(_ descriptor: CInt) {
        let code = errno
        _ = close(descriptor)
        errno = code
    }

    /// Makes a call with the address of a port, and returns its answer and the port of the address after it.
    private static func withAddress(
        _ port: UInt16, _ call: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> Bool
    ) -> (answer: Bool, port: UInt16) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        address.sin_port = in_port_t(port).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let answer = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, &length) }
        }
        return (answer, UInt16(bigEndian: address.sin_port))
    }
}
