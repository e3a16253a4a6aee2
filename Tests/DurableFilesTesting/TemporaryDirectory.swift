import LoaderChainPlatformFoundation

/// A temporary directory for a test, removed when the test releases it.
package final class TemporaryDirectory: Sendable {
    package let url: URL

    package init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "LoaderChainTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    package var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: url.path(percentEncoded: false))) ?? []).sorted()
    }

    package func put(_ bytes: Data, at name: String) throws { _ = try file(name, bytes) }

    /// A file in it, with this content if there is some.
    package func file(_ name: String, _ content: Data? = nil) throws -> URL {
        let file = url.appending(path: name)
        try content?.write(to: file)
        return file
    }
}
