import DurableFilesTesting
import LoaderChainPlatformFoundation

extension TemporaryDirectory {
    func file(_ content: Data) throws -> URL { try file("file", content) }

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
