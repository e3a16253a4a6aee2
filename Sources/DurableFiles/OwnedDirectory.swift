// What a directory with one owner needs, such as that of a box or of a writer: its lock, why it cannot be had, and what others have
// left there.

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
