#if os(Linux)
    import CLoaderChainCurl
    import LoaderChain
    import LoaderChainPlatformC
    import LoaderChainPlatformFoundation

    /// The TLS options, prepared for libcurl when a loader is created.
    ///
    /// libcurl reads certificates and keys from files, and keeps what it has made of a file of authorities for the next connection:
    /// reading the system's takes 30 milliseconds, in which nothing else is loaded.
    struct CurlTrust: Sendable {
        let options: TLSOptions
        /// The lowest version in libcurl's words; some builds would otherwise still take TLS 1.1.
        var lowestVersion: Int { (options.minimumVersion ?? .v1_2) >= .v1_3 ? 7 : 6 }
        /// The file of the authorities to trust; nil for libcurl's own choice.
        let authorities: CurlFile?
        let certificate: Identity?

        struct Identity: Sendable {
            let certificate: CurlFile
            let form: String
            let key: CurlFile?
            let keyForm: String
            let passphrase: Secret<String?>
        }

        /// What all libraries for TLS can do with libcurl.
        private static let supported: Set<TLSOptions.Feature> = [
            .onlyOwnAuthorities, .additionalAuthorities, .pemClientCertificate, .pkcs12ClientCertificate, .pins,
            .minimumVersion,
        ]

        init(_ options: TLSOptions, environment: [String: String]) throws(TLSOptions.Refused) {
            try options.check(for: "libcurl", supporting: Self.supported)
            self.options = options
            authorities = try Self.file(of: options.authorities, Self.systemFile(in: environment))
            certificate = try options.clientCertificate.map { certificate throws(TLSOptions.Refused) in
                try Self.identity(certificate)
            }
        }

        /// The system's own behavior.
        init(environment: [String: String]) {
            options = TLSOptions()
            authorities = Self.systemFile(in: environment).map { CurlFile(path: $0) }
            certificate = nil
        }

        /// The file with the system's authorities: what the operator says, or where a distribution keeps them.
        private static func systemFile(in environment: [String: String]) -> String? {
            if let named = environment["SSL_CERT_FILE"], !named.isEmpty { return named }
            return systemFiles.first { access($0, R_OK) == 0 }
        }

        private static let systemFiles = [
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
            "/etc/pki/tls/cacert.pem", "/etc/ssl/cert.pem",
        ]

        private static func file(
            of authorities: CertificateAuthorities, _ systemFile: String?
        ) throws(TLSOptions.Refused) -> CurlFile? {
            guard !authorities.own.isEmpty else { return systemFile.map { CurlFile(path: $0) } }
            var text = Data()
            if authorities.includesSystem {
                guard let systemFile else {
                    throw TLSOptions.Refused(
                        "The certificates of the system's authorities were not found; name their file in the environment variable SSL_CERT_FILE"
                    )
                }
                text = try TLSMaterial.file(URL(filePath: systemFile)).bytes() + Data("\n".utf8)
            }
            for certificate in try authorities.certificates() {
                text += PEM.text(label: "CERTIFICATE", certificate).utf8
            }
            return try CurlFile(text)
        }

        private static func identity(_ certificate: ClientCertificate) throws(TLSOptions.Refused) -> Identity {
            let passphrase = Secret(certificate.passphrase)
            guard passphrase.value?.utf8.contains(0) != true else {
                throw TLSOptions.Refused(
                    "The passphrase of the client certificate contains a NUL, which libcurl cannot take")
            }
            if let archive = try certificate.archive?.bytes() {
                return Identity(
                    certificate: try CurlFile(archive), form: "P12", key: nil, keyForm: "PEM", passphrase: passphrase)
            }
            guard let pem = certificate.pem else { throw TLSOptions.Refused("The client certificate has no form") }
            let (bytes, key) = (try pem.certificate.bytes(), try pem.key.bytes())
            return Identity(
                certificate: try CurlFile(bytes), form: PEM.isDER(bytes) ? "DER" : "PEM", key: try CurlFile(key),
                keyForm: PEM.isDER(key) ? "DER" : "PEM", passphrase: passphrase)
        }
    }

    /// A file that libcurl reads: one of the system, or bytes that have no name and never reach a disk.
    final class CurlFile: Sendable {
        let path: String
        private let descriptor: Int32?

        init(path: String) {
            self.path = path
            descriptor = nil
        }

        init(_ bytes: Data) throws(TLSOptions.Refused) {
            let descriptor = bytes.withUnsafeBytes { loaderchain_curl_memory_file($0.baseAddress, $0.count) }
            guard descriptor >= 0 else {
                throw TLSOptions.Refused(
                    "The system has no memory for certificates: system error \(errno); close files, or raise their limit"
                )
            }
            self.descriptor = descriptor
            path = "/proc/self/fd/\(descriptor)"
        }

        deinit { if let descriptor { close(descriptor) } }
    }
#endif
