/// Whether the user lets reports be sent.
public enum ReportConsent: Hashable, Sendable {
    /// Reports are sent.
    case given
    /// The user has not been asked yet: reports are taken in and held, and none is sent.
    ///
    /// Bounds of size and number hold meanwhile; no attempt fails, so no report becomes too old.
    case pending
    /// Everything is deleted, and no report is taken in.
    case denied
}
