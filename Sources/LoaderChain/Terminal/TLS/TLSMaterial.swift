import DurableFiles
import LoaderChainPlatformFoundation

/// The bytes of certificates or of a key, or the file that holds them.
///
/// Certificates and keys may be PEM or DER. A terminal reads a file when it is made, so that a file that is missing is an error at once.
public struct TLSMaterial: Hashable, Sendable {
    private let source: Source

    private enum Source: Hashable {
        case data(Secret<Data>)
        case file(URL)
    }

    /// Bytes in memory.
    public static func data(_ bytes: Data) -> TLSMaterial { TLSMaterial(source: .data(Secret(bytes))) }

    /// Text in memory, which is PEM.
    public static func pem(_ text: String) -> TLSMaterial { data(Data(text.utf8)) }

    /// A file.
    public static func file(_ file: URL) -> TLSMaterial { TLSMaterial(source: .file(file)) }

    /// The file, if it is one.
    public var file: URL? {
        if case .file(let file) = source { file } else { nil }
    }

    /// Returns the bytes, reading the file if it is one.
    ///
    /// - Throws: if the file cannot be read or is larger than 16 MiB.
    public func bytes() throws(TLSOptions.Refused) -> Data {
        switch source {
        case .data(let bytes): bytes.value
        case .file(let file): try Self.read(file)
        }
    }

    private static let largestFile: Int64 = 16 << 20

    private static func read(_ url: URL) throws(TLSOptions.Refused) -> Data {
        guard url.isFileURL else {
            throw TLSOptions.Refused(
                "Certificates and keys are read from files, and an address was given that names none")
        }
        let path = url.path(percentEncoded: false)
        let bytes: Data
        do throws(FileFailure) {
            let file = try FileDescriptor(reading: path)
            // One more than is allowed, to notice a file that is too large.
            bytes = try file.read(Int(min(try file.length(), largestFile)) + 1, at: 0)
        } catch {
            let cause = error.isMissing ? "it does not exist" : "system error \(error.code)"
            throw TLSOptions.Refused(
                "The file \(path) with certificates or a key could not be \(error.action): \(cause)")
        }
        guard bytes.count <= largestFile else {
            throw TLSOptions.Refused(
                "The file \(path) is too large for certificates or a key, which have at most 16 MiB")
        }
        return bytes
    }
}

extension TLSMaterial: CustomStringConvertible, CustomDebugStringConvertible {
    /// The path of a file; of bytes, only that they are in memory.
    public var description: String { file.map { $0.path(percentEncoded: false) } ?? "bytes in memory" }

    /// The same as the description.
    public var debugDescription: String { description }
}
