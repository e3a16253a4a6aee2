import Foundation
import LoaderChain
import LoaderChainTesting

extension LoopbackServer {
    /// A server that can be stopped and started again at its port.
    ///
    /// Systems give other sockets ports above these, and no two tests are given the same, so none takes the port while the server
    /// is down.
    static func restartable() throws -> LoopbackServer {
        for _ in usablePorts {
            let port = nextPort.withLock { next in
                defer { next = next + 1 < usablePorts.upperBound ? next + 1 : usablePorts.lowerBound }
                return next
            }
            do {
                return try LoopbackServer(port: UInt16(port))
            } catch let error as SystemError where error.code == EADDRINUSE {}
        }
        throw SystemError("bind", code: EADDRINUSE)
    }
}

private let usablePorts = 10_000..<12_000
// Other processes that run these tests begin elsewhere.
private let nextPort = Locked(Int.random(in: usablePorts))
