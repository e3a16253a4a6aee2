import LoaderChainPlatformFoundation

/// When the files of a folder can be read, on systems that protect files while a device is locked.
package enum FolderProtection: Hashable, Sendable {
    /// After the device was unlocked once since it was started.
    case afterFirstUnlock
    /// While the device is unlocked.
    case whileUnlocked

    /// Protects the files that are created in a folder from now on, and keeps the folder out of backups.
    ///
    /// It is done if possible: a volume that supports neither still holds files. Other systems than Apple's know neither.
    package func apply(to folder: URL) {
        #if canImport(Darwin)
            var folder = folder
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            try? folder.setResourceValues(values)
            #if !os(macOS)
                let type: FileProtectionType =
                    switch self {
                    case .afterFirstUnlock: .completeUntilFirstUserAuthentication
                    case .whileUnlocked: .complete
                    }
                try? FileManager.default.setAttributes(
                    [.protectionKey: type], ofItemAtPath: folder.path(percentEncoded: false))
            #endif
        #endif
    }
}
