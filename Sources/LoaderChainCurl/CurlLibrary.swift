#if os(Linux)
    import CLoaderChainCurl

    /// The library, as it was found on this system.
    struct CurlLibrary: Sendable {
        /// Why there is none, and what to do, as a sentence.
        struct Missing: Error, Hashable, Sendable, CustomStringConvertible {
            let description: String
        }

        /// The version, as in 0x075801 for 7.88.1.
        let version: UInt32
        private let features: Int32

        /// The library of this system, which is loaded once.
        static let system: Result<CurlLibrary, Missing> = load()

        private static func load() -> Result<CurlLibrary, Missing> {
            let reason: String
            switch loaderchain_curl_load() {
            case Int32(loaderchain_curl_is_there):
                let features = loaderchain_curl_features()
                if features & Int32(loaderchain_curl_feature_resolver_thread) != 0 {
                    return .success(CurlLibrary(version: loaderchain_curl_version(), features: features))
                }
                reason = "libcurl was built without an asynchronous resolver; install another build"
            case Int32(loaderchain_curl_is_too_old): reason = "libcurl is older than 7.68; install a newer one"
            case Int32(loaderchain_curl_has_failed): reason = "libcurl could not be initialized"
            default: reason = reasonNotLoaded
            }
            return .failure(Missing(description: reason))
        }

        private static var reasonNotLoaded: String {
            #if canImport(Musl)
                "libcurl could not be loaded: a program that is linked statically with Musl cannot load libraries; build it with Glibc, or use another terminal"
            #else
                "libcurl could not be loaded (\(String(cString: loaderchain_curl_words()))); install it (libcurl4 on Debian and Ubuntu, libcurl on others)"
            #endif
        }

        /// What a result of libcurl means, in its own words.
        static func text(of code: Int32) -> String {
            String(cString: loaderchain_curl_error_text(code))
        }

        var hasUnixSockets: Bool { features & Int32(loaderchain_curl_feature_unix_sockets) != 0 }

        /// Whether HTTP/2 is there and can be trusted.
        ///
        /// Before version 8.1, which brought a new implementation, a body that is cut beside other streams passes for a whole one. In 8.1,
        /// uploads may stop.
        var hasSoundHTTP2: Bool {
            version >= 0x08_02_00 && features & Int32(loaderchain_curl_feature_http2) != 0
        }

        /// Whether a handle tells how many bytes of a request it has sent; from version 8.2 to 8.7, it does not count all of them.
        var countsSentBytes: Bool { !(0x08_02_00..<0x08_08_00).contains(version) }

        /// Whether a handle can be let go while it waits for the address of a host; before version 7.87, letting go waits for it too.
        var leavesResolver: Bool { version >= 0x07_57_00 }
    }
#endif
