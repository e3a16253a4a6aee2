// Trust: which servers are trusted, and who this client is. It uses no other folder.

import Foundation
import LoaderChain

#if canImport(Security) && canImport(CryptoKit)
    import Security
#endif

/// The options for secure connections, made ready for a session when its loader is made.
struct SessionTrust: @unchecked Sendable {
    let options: TLSOptions

    #if canImport(Security) && canImport(CryptoKit)
        // Objects of the system that never change, which makes them safe to send.
        /// The certificates of authorities of one's own.
        let anchors: [SecCertificate]
        let clientIdentity: URLCredential?
    #endif

    /// Makes the options ready.
    ///
    /// - Throws: if the system's session cannot do all that they ask for.
    init(_ options: TLSOptions) throws(TLSOptions.Refused) {
        try options.check(
            for: "URLSession on this system", supporting: Self.supported,
            otherwise: "use another terminal, such as one over libcurl")
        self.options = options
        #if canImport(Security) && canImport(CryptoKit)
            anchors = try Self.anchors(of: options.authorities)
            clientIdentity = try options.clientCertificate.flatMap(Self.identity)
        #endif
    }

    /// The system's own behavior.
    private init() {
        options = TLSOptions()
        #if canImport(Security) && canImport(CryptoKit)
            anchors = []
            clientIdentity = nil
        #endif
    }

    static let system = SessionTrust()

    static var supported: Set<TLSOptions.Feature> {
        #if canImport(Security) && canImport(CryptoKit)
            [.onlyOwnAuthorities, .additionalAuthorities, .pkcs12ClientCertificate, .pins, .minimumVersion]
        #else
            // The session neither asks about a server's certificate nor has a setting for any of it.
            []
        #endif
    }
}
