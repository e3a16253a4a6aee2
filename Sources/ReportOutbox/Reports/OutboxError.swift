import DurableFiles
import LoaderChainPlatformFoundation

/// Why a box cannot be opened, or a report is not taken in.
public struct OutboxError: Error, Hashable, Sendable {
    /// What went wrong, as a kind.
    public enum Code: String, Hashable, Sendable {
        /// Another box, of this process or of another, has the directory.
        case inUse
        /// The directory cannot be used.
        case directory
        /// The disk, or a quota, is full.
        case diskFull
        /// Something else failed on the disk.
        case disk
        /// The box holds as much as its settings allow.
        case boxFull
        /// The report is larger than the settings allow.
        case tooLarge
        /// The request carries a secret, which a box writes down nowhere.
        case secret
        /// The request cannot be sent as it is.
        case request
        /// The identifier is empty or too long.
        case identifier
        /// The bytes cannot be read.
        case unreadable
        /// The bytes could not be sealed.
        case seal
        /// There is no consent to keep reports.
        case consent
        /// The box has been closed.
        case closed
        /// There is no report of that identifier.
        case unknownReport
    }

    /// What went wrong, as a kind.
    public let code: Code

    /// What went wrong in this case and what to do, as a sentence or two; no secrets.
    public let reason: String

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// Why a directory cannot be had by a box, or by what else is named.
    init(opening failure: FileFailure, for owner: String = "box") {
        let way = owner == "box" ? ", or let the settings' whenInUse be ownBox" : ""
        self.init(
            Code(rawValue: failure.obstacle.rawValue) ?? .directory, failure.reason(for: owner, orElse: way))
    }

    init(_ failure: FileFailure) {
        if failure.isWithoutDirectory {
            self.init(
                .directory, "The box's directory was deleted while it was open, and its reports with it; open another.")
        } else if failure.isDiskFull {
            self.init(.diskFull, "The disk is full: \(failure); make room, and submit it again.")
        } else {
            self.init(.disk, "The report could not be written: \(failure); check the box's directory.")
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
