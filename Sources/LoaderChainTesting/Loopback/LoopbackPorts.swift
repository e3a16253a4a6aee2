import LoaderChain

/// The ports that servers of this process have had, so that no other server of the process gets one of them.
///
/// A system soon gives a free port to the next socket that asks for any. A client that still tries the address of a stopped
/// server would then reach the server of another test, which counts requests that nobody sent to it.
package struct LoopbackPorts {
    private var ports: Set<Int> = []
    private var oldestFirst: [Int] = []
    private var oldest = 0
    private let limit: Int

    /// - Parameter limit: how many ports are remembered. Most ports must be left, since each closed connection keeps one for
    ///   a minute.
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
