import LoaderChainPlatformFoundation

/// Encrypts what a box writes down, and decrypts it again.
///
/// **What it covers.** The request and the bytes of every report. Identifiers, dates and sizes stay readable: they are the
/// names of the files.
///
/// **How to write one.** Use authenticated encryption, such as AES-GCM, and feed the context to it as additional data: it is
/// different for every piece of every report, and keeps pieces from being swapped. Sealed bytes may be longer.
///
/// **When the key is lost.** A report whose seal cannot be opened is set aside with ``ReportLoss/sealed``. Nothing is sent,
/// nothing is deleted, and other reports go on. If the key comes back, `retry` puts the report into the box again; if not, it
/// leaves when the bounds for what is set aside say so.
///
/// It is called from any thread, also from several at once.
public protocol ReportSeal: Sendable {
    /// Encrypts bytes.
    func seal(_ bytes: Data, context: Data) throws -> Data

    /// Decrypts bytes, or throws if they are not what ``seal(_:context:)`` made with the same key and context.
    func open(_ bytes: Data, context: Data) throws -> Data
}

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
