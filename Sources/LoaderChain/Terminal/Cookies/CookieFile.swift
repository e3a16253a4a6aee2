import DurableFiles
import LoaderChainPlatformFoundation

/// The file in which a jar keeps its cookies, readable by this user alone.
///
/// The file is written whole, under another name, and then renamed: a process or a machine that dies leaves the old file or the new one.
struct CookieFile: Sendable {
    private let directory: any Directory
    private let name: String

    private static let largest = 32 << 20

    init(_ file: URL) throws(CookieJar.Failure) {
        let name = file.lastPathComponent
        guard file.isFileURL, !file.hasDirectoryPath, !name.isEmpty, name != "/" else {
            throw CookieJar.Failure("The URL of the cookies does not name a file")
        }
        do throws(FileFailure) {
            self.init(in: try SystemDirectory(file.deletingLastPathComponent()), name: name)
        } catch {
            throw CookieJar.Failure("The directory of the cookies", error)
        }
    }

    init(in directory: any Directory, name: String) {
        self.directory = directory
        self.name = name
    }

    struct Contents: Sendable {
        var cookies: [CookieJar.Cookie] = []
        /// The damage that was found, with the name of the copy.
        var damage: CookieJar.Failure?
    }

    /// Reads the file; there are no cookies if there is none.
    ///
    /// Damaged cookies are left out, and a copy of the file as it was found is kept, because the next change replaces it.
    func load() throws(CookieJar.Failure) -> Contents {
        let bytes: Data
        do throws(FileFailure) {
            bytes = try directory.contents(of: name, upTo: Self.largest)
        } catch {
            if error.isMissing { return Contents() }
            throw CookieJar.Failure("The file \(name) of cookies", error)
        }
        guard let stored = try? JSONDecoder().decode(Stored.self, from: bytes), stored.version == Stored.current else {
            throw CookieJar.Failure(
                "The file \(name) holds no cookies of this library; remove it, or choose another name")
        }
        var contents = Contents(cookies: stored.cookies.compactMap { $0.item?.cookie })
        let damaged = stored.cookies.count - contents.cookies.count
        if damaged > 0 {
            try keepAside(bytes)
            contents.damage = CookieJar.Failure(
                "Of the \(stored.cookies.count) cookies of the file \(name), \(damaged) could not be read; the file as it was found is \(copy)"
            )
        }
        return contents
    }

    // MARK: Damaged files

    /// The name of the last damaged file that was found.
    private var copy: String { "\(name).damaged" }

    /// Writes a copy of what was found.
    private func keepAside(_ bytes: Data) throws(CookieJar.Failure) {
        do throws(FileFailure) { try directory.replace(copy, with: bytes, through: copy + ".new") } catch {
            throw CookieJar.Failure("The file \(name) has damaged cookies, and a copy of it", error)
        }
    }

    func removeCopy() throws(CookieJar.Failure) {
        do throws(FileFailure) { try directory.remove(copy) } catch {
            throw CookieJar.Failure("The copy of the file \(name)", error)
        }
    }

    func save(_ cookies: [CookieJar.Cookie]) throws(CookieJar.Failure) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        guard let bytes = try? encoder.encode(Stored(cookies)) else {
            throw CookieJar.Failure("The cookies could not be encoded")
        }
        do throws(FileFailure) {
            try directory.replace(name, with: bytes, through: name + ".new")
        } catch {
            throw CookieJar.Failure("The file \(name) of cookies", error)
        }
    }

    private struct Stored: Codable {
        static let current = 1

        let version: Int
        let cookies: [Place]

        /// A cookie, or something else in its place.
        struct Place: Codable {
            let item: Item?

            init(_ item: Item) { self.item = item }

            init(from decoder: any Decoder) throws { item = try? Item(from: decoder) }

            func encode(to encoder: any Encoder) throws { try item?.encode(to: encoder) }
        }

        struct Item: Codable {
            let name: String
            let value: String
            let domain: String
            let includesSubdomains: Bool
            let path: String
            let expires: Double
            let isSecure: Bool
            let isHTTPOnly: Bool
            let sameSite: String?

            /// The cookie; nil if no server could have set it, or it would break the field that it is sent in.
            var cookie: CookieJar.Cookie? {
                guard
                    ![name, value, domain, path].contains(where: { $0.utf8.contains(where: ASCII.isForbiddenInValue) }),
                    // The path of a request may have one.
                    ![name, value].contains(where: { $0.utf8.contains(UInt8(ascii: ";")) }),
                    name.utf8.count + value.utf8.count <= SetCookie.longestPair, !(name.isEmpty && value.isEmpty),
                    !domain.isEmpty, path.hasPrefix("/"), expires.isFinite
                else { return nil }
                return CookieJar.Cookie(
                    name: name, secretValue: Secret(value), domain: domain, includesSubdomains: includesSubdomains,
                    path: path,
                    expiry: Date(timeIntervalSince1970: expires), isSecure: isSecure, isHTTPOnly: isHTTPOnly,
                    sameSite: sameSite.flatMap { CookieJar.Cookie.SameSite($0) })
            }
        }

        init(_ cookies: [CookieJar.Cookie]) {
            version = Self.current
            self.cookies = cookies.compactMap { cookie in
                guard let expiry = cookie.expiry else { return nil }
                return Place(
                    Item(
                        name: cookie.name, value: cookie.value, domain: cookie.domain,
                        includesSubdomains: cookie.includesSubdomains, path: cookie.path,
                        expires: expiry.timeIntervalSince1970, isSecure: cookie.isSecure,
                        isHTTPOnly: cookie.isHTTPOnly, sameSite: cookie.sameSite?.description))
            }
        }
    }
}

extension CookieJar.Failure {
    /// The failure to do something with a file or a directory, which begins the sentence.
    fileprivate init(_ subject: String, _ failure: FileFailure) {
        let cause = failure.isDiskFull ? "the disk is full" : "system error \(failure.code)"
        self.init("\(subject) could not be \(failure.action): \(cause)")
    }
}
