#if canImport(Darwin)
    import Foundation

    /// What Apple systems can do for a directory of reports.
    enum ProtectedDirectory {
        /// Keeps the directory out of backups, and lets its files be read only after the device was unlocked once.
        ///
        /// Once, because reports are sent in the background too, while the device is locked. It is done if possible: a
        /// volume that supports neither still holds reports.
        static func prepare(_ directory: URL) {
            var directory = directory
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            try? directory.setResourceValues(values)
            #if !os(macOS)
                try? FileManager.default.setAttributes(
                    [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication],
                    ofItemAtPath: directory.path(percentEncoded: false))
            #endif
        }
    }
#endif
