// What a directory with one owner needs, such as that of a box or of a writer: its lock, why it cannot be had, what others have
// left there, and what was set aside.

import LoaderChainPlatformC

extension Directory {
    /// Takes the directory until the returned value is released.
    ///
    /// - Throws: a failure that ``FileFailure/isInUse`` if another owner has it, in this process or in another.
    package func take() throws(FileFailure) -> any Sendable {
        if let lock = try lock(FileFailure.lockName) { return lock }
        throw FileFailure.inUse
    }
}

extension FileFailure {
    /// The name of the lock in a directory.
    package static let lockName = "lock"

    /// Another owner has the directory.
    package static let inUse = FileFailure("locked", lockName, code: EWOULDBLOCK)

    /// Whether another owner has the directory.
    package var isInUse: Bool { self == .inUse }

    /// Why a directory cannot be had, as a kind.
    package enum Obstacle: String, Sendable { case inUse, diskFull, directory }

    /// Why the directory cannot be had, as a kind.
    package var obstacle: Obstacle { isInUse ? .inUse : isDiskFull ? .diskFull : .directory }

    /// Why the directory cannot be had, and what to do.
    ///
    /// - Parameters:
    ///   - owner: what would have it, such as a writer.
    ///   - way: another way, if another owner has the directory.
    package func reason(for owner: String, orElse way: String = "") -> String {
        guard isInUse else { return "The directory cannot be used: \(self)." }
        return
            "Another \(owner) has this directory, in this process or in another; give each \(owner) one of its own\(way)."
    }
}

/// Files in a directory that are not its owner's, which leaves them alone and tells of them.
package struct ForeignFiles: Sendable {
    package private(set) var count = 0
    /// The names of the first few.
    package private(set) var names: [String] = []

    private static let mostNames = 20

    package init() {}

    package mutating func note(_ name: String) {
        count += 1
        if names.count < Self.mostNames { names.append(name) }
    }
}

/// Files that were set aside for someone to inspect, the oldest first; of too many, the oldest go.
package struct Quarantine<File: Sendable>: Sendable {
    package private(set) var files: [File] = []
    private var bytes: Int64 = 0
    private let size: @Sendable (File) -> Int64

    /// Makes an empty quarantine.
    ///
    /// - Parameter size: how many bytes a file has.
    package init(size: @escaping @Sendable (File) -> Int64) { self.size = size }

    package mutating func add(_ file: File) {
        files.append(file)
        let (sum, isTooMuch) = bytes.addingReportingOverflow(size(file))
        bytes = isTooMuch ? .max : sum
    }

    /// Takes out the first file that fulfils a condition.
    package mutating func remove(where isOne: (File) -> Bool) -> File? {
        guard let index = files.firstIndex(where: isOne) else { return nil }
        bytes -= size(files[index])
        return files.remove(at: index)
    }

    /// Takes out the oldest, as many as there are too many, or have too many bytes together.
    package mutating func trim(count: Int, bytes most: Int64 = .max) -> [File] {
        var trimmed: [File] = []
        for file in files {
            guard files.count - trimmed.count > max(0, count) || bytes > most else { break }
            trimmed.append(file)
            bytes -= size(file)
        }
        files.removeFirst(trimmed.count)
        return trimmed
    }
}
