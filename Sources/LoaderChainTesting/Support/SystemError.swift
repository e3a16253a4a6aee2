import LoaderChainPlatformC

/// A call of the operating system that failed.
package struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    package let call: String
    /// The value of `errno` after it.
    package let code: Int32

    /// Records the error of a call that has just failed, from `errno` unless the call returned its code.
    package init(_ call: String, code: Int32 = errno) {
        self.call = call
        self.code = code
    }

    package var description: String { "\(call) failed with error \(code)" }
}
