import LoaderChainPlatformFoundation

#if canImport(CryptoKit)
    import CryptoKit
#endif

extension RemoteSettings {
    /// A key that a document of ``RemoteSettings`` is signed with.
    ///
    /// ```swift
    /// let settings = RemoteSettings(
    ///     url: url, chain: terminal, targets: ["api": .throttle(throttle)], keys: [.hmacSHA256(secret.utf8)])
    /// ```
    ///
    /// A signed document is a JWS in its compact form (RFC 7515), which libraries for JSON web tokens make: a header, the document
    /// and the signature, each in base64url. To replace a key, give both until no server signs with the old one.
    ///
    /// Who has the key of an HMAC can sign, and a key in an app can be found. Use it among servers, and `ed25519(publicKey:)`
    /// in apps.
    public struct Key: Sendable {
        /// The names of the algorithm in headers.
        fileprivate let algorithms: Set<String>
        fileprivate let isValid: @Sendable (_ signature: Data, _ message: Data) -> Bool

        /// Makes a key of another library.
        ///
        /// - Parameters:
        ///   - algorithm: the algorithm's name in the header, such as `ES256`.
        ///   - isValid: whether a signature, the first argument, fits to a message, the second one.
        public init(algorithm: String, isValid: @escaping @Sendable (_ signature: Data, _ message: Data) -> Bool) {
            self.init(algorithms: [algorithm], isValid: isValid)
        }

        private init(algorithms: Set<String>, isValid: @escaping @Sendable (Data, Data) -> Bool) {
            self.algorithms = algorithms
            self.isValid = isValid
        }

        /// The key of an HMAC with SHA-256, which has the name `HS256` in headers.
        ///
        /// It should have at least 32 random bytes; an empty one fits to no signature.
        public static func hmacSHA256(_ key: some Sequence<UInt8>) -> Key {
            let key = Array(key)
            return Key(algorithm: "HS256") { signature, message in
                !key.isEmpty && SHA256.isCode(signature, of: message, key: key)
            }
        }

        #if canImport(CryptoKit)
            /// The public key of Ed25519, which has the name `EdDSA` or `Ed25519` in headers.
            ///
            /// - Throws: an error of CryptoKit if these are not the 32 bytes of a key.
            public static func ed25519(publicKey: some ContiguousBytes) throws -> Key {
                let key = try Curve25519.Signing.PublicKey(rawRepresentation: publicKey)
                return Key(algorithms: ["EdDSA", "Ed25519"]) { key.isValidSignature($0, for: $1) }
            }
        #endif
    }
}

/// A text with its signature: a JWS in its compact form.
struct SignedText {
    private struct Header: Decodable {
        let alg: String
        /// What a reader must understand; nothing of it is.
        let crit: [String]?
    }

    private let algorithm: String
    private let text: Data
    private let message: Data
    private let signature: Data

    init(_ bytes: Data) throws(RemoteProblem) {
        // A file may end with a line break.
        let last = bytes.lastIndex { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        let parts = bytes[..<(last.map { $0 + 1 } ?? bytes.startIndex)].split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Self.decoded(parts[0]), let text = Self.decoded(parts[1]),
            let signature = Self.decoded(parts[2]), let header = try? JSONDecoder().decode(Header.self, from: head)
        else { throw RemoteProblem("The document is not signed: a JWS was expected, three parts in base64url") }
        guard header.crit == nil else {
            throw RemoteProblem("The document's signature has extensions, which are not supported")
        }
        algorithm = header.alg
        self.text = text
        self.signature = signature
        message = Data(parts[0] + [UInt8(ascii: ".")] + parts[1])
    }

    func content(signedBy keys: [RemoteSettings.Key]) throws(RemoteProblem) -> Data {
        // The keys decide on the algorithm; the header only has to agree.
        guard keys.contains(where: { $0.algorithms.contains(algorithm) && $0.isValid(signature, message) }) else {
            throw RemoteProblem("The document's signature fits to none of the keys")
        }
        return text
    }

    private static func decoded(_ part: some Sequence<UInt8>) -> Data? {
        var base64: [UInt8] = []
        for byte in part {
            switch byte {
            case UInt8(ascii: "-"): base64.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): base64.append(UInt8(ascii: "/"))
            case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return nil
            default: base64.append(byte)
            }
        }
        while base64.count % 4 != 0 { base64.append(UInt8(ascii: "=")) }
        return Data(base64Encoded: Data(base64))
    }
}
