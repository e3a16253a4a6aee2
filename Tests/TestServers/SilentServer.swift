#if os(Linux) || os(macOS)
    import Foundation
    import LoaderChainTesting

    /// A server that takes connections and requests, and never says anything.
    ///
    /// The system keeps the connections in the queue of those not accepted yet, so that thousands cost nothing.
    package final class SilentServer: Sendable {
        /// Its address.
        package let url: URL
        private let listener: LoopbackSocket

        /// Starts a server.
        package init() throws {
            let port: Int
            (listener, port) = try LoopbackSocket.listening(backlog: 4_096)
            url = URL(string: "http://127.0.0.1:\(port)/")!
        }

        deinit { listener.close() }
    }
#endif
