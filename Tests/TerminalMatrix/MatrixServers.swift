#if os(Linux) || os(macOS)
    import LoaderChain
    import LoaderChainPlatformFoundation
    import LoaderChainTesting
    import TestServers

    /// The TLS servers that all cases share; empty where openssl is missing.
    struct MatrixServers: Sendable {
        private var servers: [MatrixIdentity: TLSServer] = [:]

        /// Starts the servers.
        init() async throws {
            servers = try await withThrowingTaskGroup(of: (MatrixIdentity, TLSServer?).self) { group in
                for identity in MatrixIdentity.allCases { group.addTask { (identity, try await Self.start(identity)) } }
                return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
        }

        private static func start(_ identity: MatrixIdentity) async throws -> TLSServer? {
            switch identity {
            case .trusted, .unknownAuthority: try await TLSServer()
            case .anotherName: try await TLSServer(name: "another.example")
            case .expired: try await TLSServer(isExpired: true)
            case .oldVersion: try await TLSServer(["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"])
            case .wantsCertificate: try await TLSServer(["-Verify", "1", "-verify_return_error"])
            }
        }

        /// The authority to trust for a server of this identity.
        func authority(for identity: MatrixIdentity) -> URL? {
            servers[identity == .unknownAuthority ? .trusted : identity]?.authority
        }

        subscript(identity: MatrixIdentity) -> TLSServer? { servers[identity] }
    }
#endif
