import LoaderChainPlatformFoundation

/// An error with a reason, which is all of its text unless it says otherwise.
package protocol ReasonedError: LocalizedError, CustomStringConvertible {
    var reason: String { get }
}

extension ReasonedError {
    /// The reason.
    public var description: String { reason }

    /// The description, which `localizedDescription` shows.
    public var errorDescription: String? { description }
}
