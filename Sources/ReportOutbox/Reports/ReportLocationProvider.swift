import LoaderChainPlatformFoundation

/// Keeps the files of reports where the app wants them, instead of in the box.
///
/// A report that is submitted as a file is copied into the box, unless there is a provider that has a place for its
/// identifier. Then the box remembers the identifier, the request and the attempts, and reads the file where it is, in this
/// launch and in later ones. What becomes of the file before it is sent is then up to the app.
public protocol ReportLocationProvider: Sendable {
    /// Where the file of a report is; nil to let the box keep a copy.
    ///
    /// It is asked at submission and before each attempt, since places change from launch to launch. A file that was there and
    /// is not any more drops the report with ``ReportLoss/missingFile``.
    func location(of id: ReportID) -> URL?

    /// Releases the file of a report that the box is done with: it was delivered, or is lost and not set aside any more.
    ///
    /// Unless implemented, the file of a delivered report is removed, and the file of any other stays.
    func release(_ id: ReportID, at url: URL, delivered: Bool)
}

extension ReportLocationProvider {
    /// Removes the file of a delivered report.
    public func release(_ id: ReportID, at url: URL, delivered: Bool) {
        if delivered { try? FileManager.default.removeItem(at: url) }
    }
}
