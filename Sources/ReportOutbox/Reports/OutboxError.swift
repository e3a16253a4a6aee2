import DurableFiles
import LoaderChainPlatformFoundation

/// The error of an outbox that cannot be opened, or of a report that is not accepted.
public struct OutboxError: Error, Hashable, Sendable {
    /// The kind of the error.
    public enum Code: String, Hashable, Sendable {
        /// Another outbox uses the directory, in this process or another.
        case inUse
        /// The directory cannot be used.
        case directory
        /// The disk, or a quota, is full.
        case diskFull
        /// Something else failed on the disk.
        case disk
        /// The outbox has reached the limits of its settings.
        case full
        /// The report is larger than the settings allow.
        case tooLarge
        /// The request contains a secret, and outboxes do not store secrets.
        case secret
        /// The request cannot be sent as it is.
        case request
        /// The identifier is empty or too long.
        case identifier
        /// The bytes cannot be read.
        case unreadable
        /// The bytes could not be sealed.
        case seal
        /// The user does not consent to storing reports.
        case consent
        /// The outbox is closed.
        case closed
        /// No report has that identifier.
        case unknownReport
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
        self.init(Code(rawValue: failure.obstacle.rawValue) ?? .directory, failure.reason(for: owner))
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
