import LoaderChainPlatformC

/// Something that could not be done with a file.
package struct FileFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was to be done, as a participle such as “written”.
    package let action: String
    /// The file's name within its directory.
    package let path: String
    /// The number of the system's error.
    package let code: CInt
    /// Whether the directory itself was deleted while it was in use.
    package var isWithoutDirectory = false

    package init(_ action: String, _ path: String, code: CInt) {
        self.action = action
        self.path = path
        self.code = code
    }

    /// Whether there is no room left, on the disk or in a quota.
    package var isDiskFull: Bool { code == ENOSPC || code == EDQUOT }

    /// Whether the file does not exist.
    package var isMissing: Bool { code == ENOENT }

    /// Whether the file is longer than its reader allows.
    package var isTooLong: Bool { code == EFBIG }

    /// Whether there is a directory, a pipe or a device in the place of a file.
    package var isIrregular: Bool { code == EISDIR }

    package var description: String {
        if isWithoutDirectory { return "“\(path)” cannot be \(action): its directory was deleted while it was in use" }
        return "“\(path)” cannot be \(action): \(String(cString: strerror(code))) (\(code))"
    }
}
