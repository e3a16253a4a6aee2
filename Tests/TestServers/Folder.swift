import Foundation
import LoaderChain

/// A temporary directory, removed when it is released.
package final class Folder: Sendable {
    /// Where it is.
    package let url: URL

    /// Makes an empty directory.
    package init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "LoaderChainTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The names of the files in it, in order.
    package var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: url.path).sorted()) ?? [] }

    /// A file in it, with this content if there is some.
    package func file(_ name: String, _ data: Data? = nil) throws -> URL {
        let file = url.appending(path: name)
        try data?.write(to: file)
        return file
    }
}

/// Bytes without a period, so that misplaced blocks are found.
package func pattern(_ count: Int) -> Data {
    var generator = SeededGenerator(seed: UInt64(count))
    var data = Data(capacity: count + 8)
    while data.count < count { withUnsafeBytes(of: generator.next()) { data.append(contentsOf: $0) } }
    return data.prefix(count)
}
