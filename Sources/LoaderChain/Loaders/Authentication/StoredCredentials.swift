import DurableFiles
import LoaderChainPlatformC
import LoaderChainPlatformFoundation

#if canImport(Security)
    import Security
#endif

/// A store in a file that only this user can read.
///
/// ```swift
/// let auth = BearerAuth(hosts: ["api.example.com"], source: source, store: .file(URL(filePath: "/var/lib/shop/token.json")))
/// ```
///
/// The file is replaced as a whole: a process or a machine that dies leaves the old credential or the new one. The credential is not
/// encrypted. In an app for Apple systems, prefer the keychain.
public struct FileCredentialStore<Credential: Codable & Sendable>: CredentialStore {
    private let file: URL
    private let disk = DiskQueue()

    private static var largest: Int { 1 << 20 }

    /// Makes a store in `file`, whose directory is created if it is missing.
    public init(_ file: URL) { self.file = file }

    /// Returns the credential of the file; nil if there is no file.
    public func load() async throws -> Credential? {
        let largest = Self.largest
        let bytes = try await onDisk { file throws(FileFailure) in try file.contents(upTo: largest) }
        return try bytes.map {
            try CredentialStoreError.decode(Credential.self, $0, from: "The file \(file.lastPathComponent)")
        }
    }

    /// Replaces the file.
    public func save(_ credential: Credential) async throws {
        let bytes = try CredentialStoreError.encode(credential)
        try await onDisk { file throws(FileFailure) in try file.replace(with: bytes) }
    }

    /// Removes the file.
    public func forget() async throws {
        try await onDisk { file throws(FileFailure) in try file.remove() }
    }

    private func onDisk<Value: Sendable>(
        _ body: @escaping @Sendable (WholeFile) throws(FileFailure) -> Value
    ) async throws(CredentialStoreError) -> Value {
        let whole = WholeFile(file)
        do throws(FileFailure) {
            return try await disk.perform { () throws(FileFailure) in try body(whole) }
        } catch {
            let cause = error.isDiskFull ? "the disk is full" : "system error \(error.code)"
            throw CredentialStoreError("The credential's file \(file.path) could not be \(error.action): \(cause)")
        }
    }
}

extension CredentialStore {
    /// A store in a file that only this user can read.
    public static func file<Credential>(_ file: URL) -> Self where Self == FileCredentialStore<Credential> {
        FileCredentialStore(file)
    }
}

#if canImport(Security)
    /// A store in the keychain.
    ///
    /// ```swift
    /// let auth = BearerAuth(hosts: ["api.example.com"], source: source, store: .keychain(service: "com.example.app"))
    /// ```
    ///
    /// The credential can be read after the device was unlocked once, so that background tasks find it, and it does not move to another
    /// device. A keychain outlives the app: a user who installs it again is still signed in.
    ///
    /// On a Mac, this is the data protection keychain, as on other devices: it never asks the user, and other programs cannot read the
    /// credential. The program needs an entitlement for it, such as that of the capability Keychain Sharing, which a command-line tool
    /// without a bundle cannot have: use ``FileCredentialStore`` there.
    public struct KeychainCredentialStore<Credential: Codable & Sendable>: CredentialStore {
        private let service: String
        private let account: String
        private let accessGroup: String?
        private let disk = DiskQueue()

        /// Makes a store for the generic password of a service and an account.
        ///
        /// - Parameters:
        ///   - service: the service, such as the app's bundle identifier.
        ///   - account: the account, for an app with several users.
        ///   - accessGroup: the group of apps that share the credential; nil for this app alone.
        public init(service: String, account: String = "", accessGroup: String? = nil) {
            self.service = service
            self.account = account
            self.accessGroup = accessGroup
        }

        /// Returns the credential of the keychain; nil if there is none.
        public func load() async throws -> Credential? { try await disk.perform { try read() } }

        /// Saves `credential` in the place of the one before.
        public func save(_ credential: Credential) async throws { try await disk.perform { try write(credential) } }

        /// Deletes the credential.
        public func forget() async throws { try await disk.perform { try delete() } }

        private func read() throws -> Credential? {
            var query = item
            query[kSecReturnData] = true
            query[kSecMatchLimit] = kSecMatchLimitOne
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            if status == errSecItemNotFound { return nil }
            try check(status, "read")
            guard let bytes = found as? Data else { throw CredentialStoreError("The keychain returned no data") }
            return try CredentialStoreError.decode(Credential.self, bytes, from: "The keychain's item of \(service)")
        }

        private func write(_ credential: Credential) throws {
            let values: [CFString: Any] = [
                kSecValueData: try CredentialStoreError.encode(credential),
                kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            let status = SecItemUpdate(item as CFDictionary, values as CFDictionary)
            if status == errSecItemNotFound {
                try check(SecItemAdd(item.merging(values) { $1 } as CFDictionary, nil), "added")
            } else {
                try check(status, "updated")
            }
        }

        private func delete() throws {
            let status = SecItemDelete(item as CFDictionary)
            if status != errSecItemNotFound { try check(status, "deleted") }
        }

        private var item: [CFString: Any] {
            var item: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account,
            ]
            // Without this, a Mac uses the user's login keychain, which knows no accessibility. Elsewhere it changes nothing.
            item[kSecUseDataProtectionKeychain] = true
            if let accessGroup { item[kSecAttrAccessGroup] = accessGroup }
            return item
        }

        private func check(_ status: OSStatus, _ action: String) throws {
            guard status != errSecSuccess else { return }
            let cause =
                status == errSecMissingEntitlement
                ? "the program has no entitlement for a keychain; add the capability Keychain Sharing, or use a file"
                : "status \(status)"
            throw CredentialStoreError("The keychain's item of \(service) could not be \(action): \(cause)")
        }
    }

    extension CredentialStore {
        /// A store in the keychain.
        public static func keychain<Credential>(
            service: String, account: String = "", accessGroup: String? = nil
        ) -> Self where Self == KeychainCredentialStore<Credential> {
            KeychainCredentialStore(service: service, account: account, accessGroup: accessGroup)
        }
    }
#endif

/// The error of a store that could not be read or written; it never quotes a credential.
public struct CredentialStoreError: Error, Hashable, Sendable, CustomStringConvertible, LocalizedError {
    /// What could not be done, and why.
    public let reason: String

    init(_ reason: String) { self.reason = reason }

    /// The ``reason``.
    public var description: String { reason }

    /// The ``reason``, which `localizedDescription` shows.
    public var errorDescription: String? { reason }

    fileprivate static func encode(_ credential: some Encodable) throws(CredentialStoreError) -> Data {
        // The error of an encoder quotes the value.
        do { return try JSONEncoder().encode(credential) } catch {
            throw CredentialStoreError("The credential, a \(type(of: credential)), cannot be encoded as JSON")
        }
    }

    fileprivate static func decode<Credential: Decodable>(
        _ type: Credential.Type, _ bytes: Data, from place: String
    ) throws(CredentialStoreError) -> Credential {
        do { return try JSONDecoder().decode(type, from: bytes) } catch {
            throw CredentialStoreError("\(place) does not contain a \(type); remove it to sign in again")
        }
    }
}
