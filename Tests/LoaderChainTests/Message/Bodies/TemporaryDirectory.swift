import LoaderChainPlatformFoundation

/// A directory of one test's own, gone when the test lets go of it.
final class TemporaryDirectory {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "bodies-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func file(_ content: Data) throws -> URL {
        try file("file", content)
    }

    func file(_ name: String, _ content: Data) throws -> URL {
        let file = url.appending(path: name)
        try content.write(to: file)
        return file
    }

    /// Changes nothing about the file but the time of its last change.
    func touch(_ file: URL) throws {
        let longAgo = Date(timeIntervalSince1970: 1_000_000)
        try FileManager.default.setAttributes(
            [.modificationDate: longAgo], ofItemAtPath: file.path(percentEncoded: false))
    }
}

#if os(Linux)
    /// How many descriptors of this process are open on the file.
    func openDescriptors(of file: URL) throws -> Int {
        let table = "/proc/self/fd"
        return try FileManager.default.contentsOfDirectory(atPath: table).count { number in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(table)/\(number)")
            return target == file.path(percentEncoded: false)
        }
    }
#endif
