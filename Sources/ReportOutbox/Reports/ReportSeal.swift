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
