// Support for a directory with one owner, such as an outbox or a writer: its lock, the reason why it cannot be opened, and the
// files that do not belong to its owner.

import LoaderChainPlatformC
import LoaderChainPlatformFoundation

extension Directory {
    /// Locks the directory until the value is released; the failure is ``FileFailure/isInUse`` if another owner, in this process or
    /// another, has locked it.
    package func takeOwnership() throws(FileFailure) -> any Sendable {
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
            if let file = url(of: OwnerLock.name), OwnerLock.isInAppGroup(file) { throw .shared }
        #endif
        if let lock = try lock(OwnerLock.name) { return lock }
        throw FileFailure.inUse
    }
}

/// The file by which a directory has one owner at a time.
package enum OwnerLock {
    package static let name = "lock"

    /// Whether a file is in the container of an app group, where the system ends an app that is suspended while it holds a lock.
    package static func isInAppGroup(_ file: URL) -> Bool {
        file.path(percentEncoded: false).contains("/Containers/Shared/AppGroup/")
    }
}

extension FileFailure {
    package static let inUse = FileFailure("locked", OwnerLock.name, code: EWOULDBLOCK)

    /// The directory is one that several apps share.
    package static let shared = FileFailure("locked", OwnerLock.name, code: ENOTSUP)

    package var isInUse: Bool { self == .inUse }

    /// The kinds of reasons why a directory cannot be used.
    package enum Obstacle: String, Sendable { case inUse, diskFull, directory }

    package var obstacle: Obstacle { isInUse ? .inUse : isDiskFull ? .diskFull : .directory }

    /// The reason why the directory cannot be used, and what to do; the owner is of a kind such as "writer".
    package func reason(for owner: String) -> String {
        if self == .shared {
            return
                "The directory is in the container of an app group, where the system ends an app that holds a lock while it is suspended; give the \(owner) a directory of the app or of the extension."
        }
        guard isInUse else { return "The directory cannot be used: \(self)." }
        return "Another \(owner) is using this directory, in this process or in another; give each \(owner) its own."
    }
}

/// Files in a directory that do not belong to its owner, which reports them and does not touch them.
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
