import Foundation
import LoaderChainPlatformC

/// A port of 127.0.0.1 that refuses connections.
///
/// It is bound, so that no other test's server can be given it, and nothing listens at it.
package final class ClosedPort: Sendable {
    /// Its number.
    package let number: Int
    private let descriptor: Int32

    /// Takes a port that is free.
    package init() throws {
        guard let bound = LocalSocket.bound() else { throw POSIXError(.EADDRNOTAVAIL) }
        (descriptor, number) = bound
    }

    deinit { close(descriptor) }
}
