import DurableFiles
import Foundation
import LoaderChain

/// The file that a page is written to.
struct PageFile {
    let path: String

    /// Whether another path leads to the same file, by whatever links.
    func isSame(as other: String) -> Bool {
        guard let own = Self.status(path), let theirs = Self.status(other) else { return path == other }
        return own.st_dev == theirs.st_dev && own.st_ino == theirs.st_ino
    }

    /// Writes the page: at once and as a whole to a regular file, also behind a link, and in place to anything else.
    func write(_ text: String) throws(ProgramError) {
        let isRegular = Self.status(path).map { $0.st_mode & S_IFMT == S_IFREG }
        // A link to nothing is followed by the system, which then creates the file.
        let isLink = (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) != nil
        do {
            if isRegular == false || isRegular == nil && isLink {
                try writeInPlace(text, isNew: isRegular == nil)
            } else {
                // Replacing a link would leave what it leads to as it was.
                let url = isLink ? URL(filePath: path).resolvingSymlinksInPath() : URL(filePath: path)
                try Data(text.utf8).write(to: url, options: .atomic)
            }
        } catch {
            throw ProgramError(.failure, "\(Plain.text(path)) cannot be written; choose another path with --output")
        }
    }

    private func writeInPlace(_ text: String, isNew: Bool) throws {
        let flags = O_WRONLY | O_CLOEXEC | (isNew ? O_CREAT : 0)
        let (number, _) = uninterrupted { open(path, flags, 0o644) }
        guard number >= 0 else { throw CocoaError(.fileWriteUnknown) }
        defer { close(number) }
        guard writeAll(Array(text.utf8), to: number) == nil else { throw CocoaError(.fileWriteUnknown) }
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }
}
