#if os(Linux) || os(macOS)
    import Foundation
    import LoaderChain
    import LoaderChainTesting
    import TestProcesses

    /// A free port, for a program that takes its port as an argument.
    ///
    /// It lies below those that a system gives to sockets that ask for any. Otherwise another test's server could take it before
    /// the program does, and requests to the program would reach that server.
    package func freePort() throws -> Int {
        for _ in usable {
            let port = nextPort.withLock { next in
                defer { next = next + 1 < usable.upperBound ? next + 1 : usable.lowerBound }
                return next
            }
            do {
                try LoopbackServer(port: UInt16(port)).stop()
                return port
            } catch let error as SystemError where error.code == EADDRINUSE {}
        }
        throw SystemError("bind", code: EADDRINUSE)
    }

    private let usable = 12_000..<30_000
    // Other processes that run these tests begin elsewhere.
    private let nextPort = Locked(Int.random(in: usable))

    extension ChildProcess {
        /// Waits until something listens on a port; false if the process ends instead.
        func listens(on port: Int) -> Bool {
            while isRunning {
                if let connection = LoopbackSocket.connected(to: port) {
                    connection.close()
                    return true
                }
                Thread.sleep(forTimeInterval: 0.001)
            }
            return false
        }
    }
#endif
