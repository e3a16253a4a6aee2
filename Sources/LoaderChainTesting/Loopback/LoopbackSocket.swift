import DurableFiles
import LoaderChain
import LoaderChainPlatformC

/// A non-blocking TCP socket, as thin a wrapper as possible; its owner closes it once.
package struct LoopbackSocket: Sendable {
    let descriptor: Int32

    enum Reading {
        case bytes(Int)
        case nothingYet
        case end
    }

    /// A socket that listens at a port of 127.0.0.1, 0 for an unused one; up to `backlog` connections wait there to be accepted.
    package static func listening(
        port: UInt16 = 0, backlog: Int32 = SOMAXCONN
    ) throws(SystemError) -> (socket: LoopbackSocket, port: Int) {
        #if canImport(Darwin)
            _ = Self.limit
        #endif
        let unused = { () throws(SystemError) in try bind(to: 0) }
        let bound = try port == 0 ? LoopbackPorts.bind(unused, close: { $0.close() }) : bind(to: port)
        guard listen(bound.socket.descriptor, backlog) == 0 else {
            let error = SystemError("listen")
            bound.socket.close()
            throw error
        }
        return bound
    }

    #if canImport(Darwin)
        /// How many descriptors the process may have: it begins with 256, which the servers of many tests do not have room in.
        private static let limit: rlim_t = {
            var limit = rlimit()
            let isKnown = getrlimit(RLIMIT_NOFILE, &limit) == 0
            guard isKnown, limit.rlim_cur < rlim_t(OPEN_MAX) else { return limit.rlim_cur }
            limit.rlim_cur = min(rlim_t(OPEN_MAX), limit.rlim_max)
            setrlimit(RLIMIT_NOFILE, &limit)
            return limit.rlim_cur
        }()
    #endif

    private static func bind(to port: UInt16) throws(SystemError) -> (socket: LoopbackSocket, port: Int) {
        guard let bound = LocalSocket.bound(to: port) else { throw SystemError("bind") }
        return (LoopbackSocket(descriptor: bound.descriptor), bound.port)
    }

    /// A connection to a port of 127.0.0.1; nil if nothing listens there.
    package static func connected(to port: Int) -> LoopbackSocket? {
        guard let descriptor = LocalSocket.connected(to: port) else { return nil }
        LocalSocket.setNonblocking(descriptor)
        return LoopbackSocket(descriptor: descriptor)
    }

    enum Acceptance {
        case connection(LoopbackSocket)
        case gone
        /// The process has run out of descriptors or memory.
        case exhausted
    }

    func accept() -> Acceptance {
        let (accepted, code) = uninterrupted { LocalSocket.accepted(by: descriptor) }
        guard accepted >= 0 else {
            return [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code) ? .exhausted : .gone
        }
        let connection = LoopbackSocket(descriptor: accepted)
        // Each dripped byte must be sent at once, not together with the next one.
        connection.set(Int32(IPPROTO_TCP), TCP_NODELAY, Int32(1))
        return .connection(connection)
    }

    func receive(into buffer: inout [UInt8]) -> Reading {
        reading(uninterrupted { buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) } })
    }

    /// Checks whether something has arrived, without reading it.
    func peek() -> Reading {
        var byte: UInt8 = 0
        return reading(uninterrupted { recv(descriptor, &byte, 1, Int32(MSG_PEEK)) })
    }

    /// Sends as much as fits; nil if the client is gone.
    func send(_ bytes: UnsafeRawBufferPointer) -> Int? {
        let (count, code) = uninterrupted { LocalSocket.send(bytes, to: descriptor) }
        guard count < 0 else { return count }
        return isTransient(code) ? 0 : nil
    }

    /// Ends the connection in both directions, whoever else has it.
    package func end() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

    func finishSending() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    /// Closes the connection in an orderly way.
    package func close() {
        // Not retried: the descriptor is closed even if a signal interrupted the call.
        _ = systemClose(descriptor)
    }

    func resetOnClose() { set(SOL_SOCKET, SO_LINGER, linger(l_onoff: 1, l_linger: 0)) }

    private func reading(_ received: (answer: Int, code: CInt)) -> Reading {
        switch received.answer {
        case 1...: .bytes(received.answer)
        case 0: .end
        default: isTransient(received.code) ? .nothingYet : .end
        }
    }

    private func set<Value: BitwiseCopyable>(_ level: Int32, _ option: Int32, _ value: Value) {
        var value = value
        _ = setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Value>.size))
    }
}

/// A descriptor to poll, and the events to poll it for.
struct LoopbackWatch {
    let descriptor: Int32
    let events: Int16

    static func readable(_ descriptor: Int32) -> Self { Self(descriptor: descriptor, events: Int16(POLLIN)) }
    static func writable(_ descriptor: Int32) -> Self { Self(descriptor: descriptor, events: Int16(POLLOUT)) }

    /// Waits until a descriptor is ready or a deadline has passed, and returns for each descriptor whether it is ready.
    static func wait(_ watches: [LoopbackWatch], until deadline: ContinuousClock.Instant? = nil) -> [Bool] {
        var polls = watches.map { pollfd(fd: $0.descriptor, events: $0.events, revents: 0) }
        while true {
            let count = poll(&polls, nfds_t(polls.count), deadline.map(milliseconds(until:)) ?? -1)
            if count > 0 { break }
            // Repeats a call that was interrupted, or whose timeout was shortened to fit its range.
            if let deadline, count == 0, ContinuousClock.now >= deadline { break }
            for index in polls.indices { polls[index].revents = 0 }
        }
        return polls.map { $0.revents != 0 }
    }

    /// The time left, rounded up so that waits are never too short and never busy-loop.
    private static func milliseconds(until deadline: ContinuousClock.Instant) -> Int32 {
        let left = (deadline - .now).components
        guard left.seconds >= 0, left.attoseconds >= 0 else { return 0 }
        let attosecondsPerMillisecond: Int64 = 1_000_000_000_000_000
        let fraction = (left.attoseconds + attosecondsPerMillisecond - 1) / attosecondsPerMillisecond
        return Int32(min(left.seconds, 1_000_000) * 1000 + fraction)
    }
}

/// A pipe that wakes every thread that polls it, until it is lowered.
final class LoopbackSignal: Sendable {
    /// The end to poll.
    let descriptor: Int32
    private let writer: Int32

    init() throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SystemError("pipe") }
        (descriptor, writer) = (ends[0], ends[1])
        for end in ends {
            LocalSocket.setNonblocking(end)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
    }

    deinit {
        _ = systemClose(descriptor)
        _ = systemClose(writer)
    }

    /// Wakes every polling thread; a full pipe is raised already.
    func raise() {
        var byte: UInt8 = 1
        _ = uninterrupted { write(writer, &byte, 1) }
    }

    /// Lets the next poll wait again.
    func lower() {
        var bytes = [UInt8](repeating: 0, count: 512)
        while uninterrupted({ read(descriptor, &bytes, bytes.count) }).answer == bytes.count {}
    }
}

// Outside the types, which have methods of this name.
private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }

private func isTransient(_ code: Int32) -> Bool { code == EAGAIN || code == EWOULDBLOCK }

/// The ports that servers of this process have had; no other server of the process gets one of them.
///
/// A system soon gives a free port to the next socket that asks for any. A client that still tries the address of a stopped
/// server would then reach the server of another test, which counts requests that nobody sent to it.
package struct LoopbackPorts {
    private var ports: Set<Int> = []
    private var oldestFirst: [Int] = []
    private var oldest = 0
    private let limit: Int

    /// - Parameter limit: the number of ports that are remembered. Most ports must be left, since each closed connection keeps
    ///   a port for a minute.
    init(limit: Int = 1_024) { self.limit = limit }

    /// Remembers a port, and returns false if it was remembered already.
    mutating func insert(_ port: Int) -> Bool {
        guard ports.insert(port).inserted else { return false }
        guard oldestFirst.count == limit else {
            oldestFirst.append(port)
            return true
        }
        ports.remove(oldestFirst[oldest])
        oldestFirst[oldest] = port
        oldest = (oldest + 1) % limit
        return true
    }

    /// Binds sockets until one is at a port that no server of this process has had.
    ///
    /// The sockets must not listen yet: for a moment, a rejected one would accept the connections that it should not get.
    /// After some attempts, a socket at any port is returned, since a machine may have few ports to give.
    package static func bind<Socket, Failure>(
        _ bind: () throws(Failure) -> (socket: Socket, port: Int), close: (Socket) -> Void
    ) throws(Failure) -> (socket: Socket, port: Int) {
        // Open until the end, so that the system does not give their ports again.
        var rejected: [Socket] = []
        defer { rejected.forEach(close) }
        while true {
            let bound = try bind()
            if ofProcess.withLock({ $0.insert(bound.port) }) || rejected.count == 16 { return bound }
            rejected.append(bound.socket)
        }
    }

    private static let ofProcess = Locked(LoopbackPorts())
}
