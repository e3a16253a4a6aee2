import DurableFiles
import LoaderChainPlatformFoundation

/// Why a writer cannot use a directory.
public struct WriterError: Error, Sendable, Hashable {
    /// What went wrong, as a kind.
    public enum Code: String, Sendable, Hashable {
        /// Another writer, of this process or of another, has the directory.
        case inUse
        /// The disk, or a quota, is full.
        case diskFull
        /// The directory cannot be used.
        case directory
    }

    /// What went wrong, as a kind.
    public let code: Code
    /// What went wrong in this case and what to do.
    public let reason: String

    static let inUse = WriterError(
        code: .inUse,
        reason: "Another writer has this directory, in this process or in another; give each writer one of its own.")

    private init(code: Code, reason: String) {
        self.code = code
        self.reason = reason
    }

    init(_ failure: FileFailure) {
        self.init(
            code: failure.isDiskFull ? .diskFull : .directory,
            reason: "The directory cannot be used: \(failure).")
    }
}

extension WriterError: CustomStringConvertible, LocalizedError {
    /// The kind and the reason.
    public var description: String { "\(code.rawValue): \(reason)" }

    /// The description, for code that shows `localizedDescription`.
    public var errorDescription: String? { description }
}
