import DurableFiles
import LoaderChainPlatformC
import LoaderChainPlatformFoundation

/// Why a body cannot be encoded or read.
///
/// Its text says what was wrong, with which value, and what to do. It never quotes the content of a body.
public struct HTTPBodyError: Error, Sendable {
    /// What went wrong, as a kind.
    public let code: Code

    /// What went wrong in this case, and what to do, in a sentence or two.
    public let reason: String

    /// The error beneath this one.
    ///
    /// It is not part of the description, because its text may quote the content.
    public let underlyingError: (any Error)?

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - reason: the problem and its remedy, without the content of the body.
    ///   - code: the kind of the error.
    ///   - underlyingError: the error that led to this one.
    public init(_ reason: String, code: Code = .invalidBody, underlyingError: (any Error)? = nil) {
        self.code = code
        self.reason = reason
        self.underlyingError = underlyingError
    }

    /// A kind of error; a body of your own can add its own as static members.
    public struct Code: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
        /// The name of the kind.
        public let rawValue: String

        /// Makes a kind of this name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Makes a kind of this name.
        public init(_ name: String) { rawValue = name }

        /// The name of the kind.
        public var description: String { rawValue }

        /// The body cannot be encoded as it is.
        public static let invalidBody = Code("invalidBody")
        /// A file is missing, or cannot be read.
        public static let unreadableFile = Code("unreadableFile")
        /// A file changed after the body was encoded.
        public static let changedFile = Code("changedFile")
        /// The bytes of a stream have been read already.
        public static let alreadyRead = Code("alreadyRead")
        /// A stream gave more or fewer bytes than it had announced.
        public static let wrongLength = Code("wrongLength")
        /// The body has more bytes than the caller allows.
        public static let tooLarge = Code("tooLarge")
    }
}

extension HTTPBodyError: CustomStringConvertible, LocalizedError {
    /// The ``reason``.
    public var description: String { reason }

    /// The ``reason``, which `localizedDescription` shows.
    public var errorDescription: String? { reason }
}

extension HTTPBodyError {
    /// A file by its path, as a sentence begins with it.
    static func name(_ url: URL) -> String {
        "The file “\(ASCII.printable(url.path(percentEncoded: false)))”"
    }

    /// The error of a file that cannot be opened or read.
    init(_ url: URL, _ failure: FileFailure) {
        guard !failure.isIrregular else {
            self.init("\(Self.name(url)) is not a regular file; give a file that has a length.", code: .unreadableFile)
            return
        }
        let (cause, advice) =
            switch failure.code {
            case ENOENT, ENOTDIR: ("it does not exist", "check the path, and that nothing removed it")
            case EACCES, EPERM: ("permission is denied", "grant this process permission to read it")
            case EMFILE, ENFILE: ("too many files are open", "send fewer bodies at once")
            default: ("system error \(failure.code)", "check the disk that holds it")
            }
        self.init("\(Self.name(url)) cannot be \(failure.action): \(cause); \(advice).", code: .unreadableFile)
    }
}
