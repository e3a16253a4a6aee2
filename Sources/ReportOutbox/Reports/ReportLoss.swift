import LoaderChain

/// Why a report was given up, dropped or set aside.
public enum ReportLoss: Hashable, Sendable {
    /// The server answered with this status, which repeating does not change.
    case refused(HTTPStatus)
    /// It could not be sent, for a reason that does not change.
    case failed(HTTPError.Code)
    /// It was older than the settings' maximum age, and the last attempt failed.
    case expired
    /// It was tried as often as the settings say.
    case tooManyAttempts
    /// It was the oldest, and a newer one needed its place.
    case noRoom
    /// The handler of existing reports said so.
    case byHandler
    /// The app purged it.
    case purged
    /// The user's consent was denied or withdrawn.
    case withoutConsent
    /// Its bytes are not what was written.
    case damaged
    /// It is sealed, and the seal could not be opened: the key is lost, or another.
    case sealed
    /// Its file is gone: the one that the app keeps, or the box's own, which another program removed.
    case missingFile
    /// Another report of the same identifier is in the box.
    case duplicate

    /// A word for it, such as stands in counters and file names.
    public var name: String {
        switch self {
        case .refused(let status): "refused-\(status.rawValue)"
        case .failed(let code): "failed-\(code.rawValue)"
        case .expired: "expired"
        case .tooManyAttempts: "too-many-attempts"
        case .noRoom: "no-room"
        case .byHandler: "by-handler"
        case .purged: "purged"
        case .withoutConsent: "without-consent"
        case .damaged: "damaged"
        case .sealed: "sealed"
        case .missingFile: "missing-file"
        case .duplicate: "duplicate"
        }
    }
}

extension ReportLoss: CustomStringConvertible {
    /// The ``name``.
    public var description: String { name }
}
