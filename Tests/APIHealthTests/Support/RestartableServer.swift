import LoaderChainTesting

extension LoopbackServer {
    /// A server that can be stopped and started again at its port.
    ///
    /// Systems give other sockets ports above these, so none takes the port while the server is down.
    static func restartable() throws -> LoopbackServer {
        for _ in 0..<100 {
            if let server = try? LoopbackServer(port: .random(in: 10_000..<30_000)) { return server }
        }
        return try LoopbackServer()
    }
}
