import DurableFiles
import LoaderChainPlatformFoundation

/// The error of an outbox that cannot be opened, or of a report that is not accepted.
public struct OutboxError: Error, Hashable, Sendable {
    /// The kind of the error; there may be more kinds in the future.
    public struct Code: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
        /// The name of the kind.
        public let rawValue: String

        /// Makes a kind of this name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The name of the kind.
        public var description: String { rawValue }

        /// Another outbox uses the directory, in this process or another.
        public static let inUse = Code(rawValue: "inUse")
        /// The directory cannot be used.
        public static let directory = Code(rawValue: "directory")
        /// The disk, or a quota, is full.
        public static let diskFull = Code(rawValue: "diskFull")
        /// Something else failed on the disk.
        public static let disk = Code(rawValue: "disk")
        /// The outbox has reached the limits of its settings.
        public static let full = Code(rawValue: "full")
        /// The report is larger than the settings allow.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// The request contains a secret, and outboxes do not store secrets.
        public static let secret = Code(rawValue: "secret")
        /// The request cannot be sent as it is.
        public static let request = Code(rawValue: "request")
        /// The identifier is empty or too long.
        public static let identifier = Code(rawValue: "identifier")
        /// The bytes cannot be read.
        public static let unreadable = Code(rawValue: "unreadable")
        /// The bytes could not be sealed.
        public static let seal = Code(rawValue: "seal")
        /// The user does not consent to storing reports.
        public static let consent = Code(rawValue: "consent")
        /// The outbox is closed.
        public static let closed = Code(rawValue: "closed")
        /// No report has that identifier.
        public static let unknownReport = Code(rawValue: "unknownReport")
    }

    /// The kind of the error.
    public let code: Code

    /// A description of the problem and its remedy, in a sentence or two, without secrets.
    public let reason: String

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The error of a directory that cannot be used by an outbox, or by the owner that is named.
    init(opening failure: FileFailure, for owner: String = "outbox") {
        self.init(Code(rawValue: failure.obstacle.rawValue), failure.reason(for: owner))
    }

    init(_ failure: FileFailure) {
        if failure.isWithoutDirectory {
            self.init(
                .directory,
                "The directory was deleted while the outbox was open, with all its reports; open another outbox.")
        } else if failure.isDiskFull {
            self.init(.diskFull, "The disk is full: \(failure); free some space, and submit the report again.")
        } else {
            self.init(.disk, "The report could not be written: \(failure); check the directory of the outbox.")
        }
    }
}

extension OutboxError: CustomStringConvertible {
    /// The kind and the reason.
    public var description: String { "\(code.rawValue): \(reason)" }
}

extension OutboxError: LocalizedError {
    /// The description, for code that shows `localizedDescription`.
    public var errorDescription: String? { description }
}
