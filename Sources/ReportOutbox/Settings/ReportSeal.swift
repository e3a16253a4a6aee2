import LoaderChainPlatformFoundation

/// Encrypts what an outbox stores, and decrypts it again.
///
/// **What it covers.** The request and the bytes of every report. Identifiers, kinds, dates and sizes are part of the file names
/// and stay readable.
///
/// **How to implement it.** Use authenticated encryption, such as AES-GCM, and pass the context as additional authenticated data:
/// it is different for every piece of every report, so that pieces cannot be swapped. The sealed bytes may be longer.
///
/// **If the key is lost.** A report whose seal cannot be opened becomes a dead letter with ``ReportLoss/sealed``. It is neither
/// sent nor deleted, and other reports are sent as usual. If the key is restored, `retry` returns the report to the outbox;
/// otherwise it is removed when the dead letters exceed their limits.
///
/// The outbox calls it from any thread, and from several at the same time.
public protocol ReportSeal: Sendable {
    /// Encrypts bytes.
    func seal(_ bytes: Data, context: Data) throws -> Data

    /// Decrypts bytes that ``seal(_:context:)`` returned for the same key and context, or throws.
    func open(_ bytes: Data, context: Data) throws -> Data
}

/// Provides the places of files that stay outside the outbox.
///
/// A file that is submitted is copied into the outbox, unless the provider returns a place for its identifier. In that case the
/// outbox stores the identifier, the request and the attempts, and reads the file at that place, in this launch and in later
/// ones. The app is responsible for the file until it is sent.
public protocol ReportLocationProvider: Sendable {
    /// Returns the place of a report's file, or nil to let the outbox keep a copy.
    ///
    /// The outbox calls it at submission and before each attempt, because a place may change from launch to launch. If the file has
    /// disappeared, the report is dropped with ``ReportLoss/missingFile``.
    func location(of id: ReportID) -> URL?

    /// Releases the file of a report that was delivered, or that is lost and no longer a dead letter.
    ///
    /// The default implementation removes the file of a delivered report, and keeps any other file.
    func release(_ id: ReportID, at url: URL, delivered: Bool)
}

extension ReportLocationProvider {
    /// Removes the file of a delivered report.
    public func release(_ id: ReportID, at url: URL, delivered: Bool) {
        if delivered { try? FileManager.default.removeItem(at: url) }
    }
}
