// LoaderChainCurl: the terminal over libcurl, which is loaded when it is first needed.
//
//     CurlLoader, CurlConfiguration    what an app sees
//     CurlTransport                    the loader's threads and settings
//     CurlLoop                         a thread, which owns all of its handles of libcurl
//     CurlTransfer                     one request on one handle; it belongs to the loop's thread
//     CurlOptions                      what is set on a handle
//     HeadReader, BodyDecoder          the head and the body of a response, from what libcurl passes on
//     CurlLibrary, CurlTrust           the library of this system, and what it is told about TLS
//
// Apple systems have a URLSession, whose terminal is LoaderChainURLSession.

#if os(Linux)
    import Dispatch
    import LoaderChain
    import LoaderChainPlatformFoundation

    /// The terminal of a chain that loads requests with the system's libcurl.
    ///
    /// ```swift
    /// let chain = ResetGuard() --> Autocancel() --> throttle --> CurlLoader()
    /// let response = try await chain.load(HTTPRequest(url: url))
    /// ```
    ///
    /// It is for Linux, where it carries many times as many requests as a `URLSession`, which a server can end the process with.
    /// libcurl is loaded with the first request, so building a program needs no development files. Without it, requests fail with
    /// `HTTPError.Code.cannotConnect`, and ``isAvailable`` is false.
    ///
    /// **Options.** A request's options mean the same as with a `URLSessionLoader`: `HTTPRequest.delivery`, `HTTPRequest.redirects`,
    /// `HTTPRequest.timeout` and `HTTPRequest.onProgress`. `HTTPRequest.unixSocket` is this terminal's own. The terminal looks at
    /// `SSL_CERT_FILE` when it is created; its configuration has the proxies of the environment.
    ///
    /// **Responses.** A body that is encoded with gzip, deflate, brotli or zstd is decoded; the request offers what the system can. A
    /// response that exceeds the size limit fails as soon as its size is known.
    ///
    /// **Connections.** Up to 64 requests to one host are in flight; further requests wait in a queue, by their priority, as in a
    /// `Throttle`. A request whose method is not idempotent is never sent twice: if its connection turns out to be dead after it was
    /// sent, it fails with `HTTPError.Code.connectionLost`.
    ///
    /// **Lifetime.** The loader has threads of its own, and ends them when it is released and nothing is in flight. A child that a
    /// process forks does not have them, and its requests may never end.
    public final class CurlLoader: HTTPLoader, @unchecked Sendable {
        /// The default size limit for a response in memory: 64 MiB.
        public static let defaultResponseSizeLimit = 64 << 20

        /// Whether this system has a libcurl that can be used.
        public static var isAvailable: Bool { reasonNotAvailable == nil }

        /// Why there is no libcurl that can be used, and what to do, as a sentence; nil if there is one.
        public static var reasonNotAvailable: String? {
            if case .failure(let missing) = CurlLibrary.system { missing.description } else { nil }
        }

        /// The version of this system's libcurl, such as `8.5.0`; nil if there is none that can be used.
        public static var libraryVersion: String? {
            guard let version = try? CurlLibrary.system.get().version else { return nil }
            return "\(version >> 16).\(version >> 8 & 0xFF).\(version & 0xFF)"
        }

        let owner: ExchangeOwner
        /// The queue of requests that wait for their turn.
        private let entrance: Throttle

        /// Creates a loader.
        ///
        /// - Parameters:
        ///   - configuration: the settings.
        ///   - requestsPerHost: the maximum number of requests in flight to one host, at least 1. With HTTP/1, each needs a
        ///     connection.
        ///   - responseSizeLimit: the maximum size in bytes of a response in memory, for requests without a limit of their own.
        ///   - timers: the clock of the timeouts.
        public init(
            configuration: CurlConfiguration = CurlConfiguration(), requestsPerHost: Int = 64,
            responseSizeLimit: Int = defaultResponseSizeLimit, timers: any Timers = SystemTimers.shared
        ) {
            let trust = CurlTrust(environment: ProcessInfo.processInfo.environment)
            (owner, entrance) = Self.make(configuration, trust, requestsPerHost, responseSizeLimit, timers)
        }

        /// Creates a loader with options for its secure connections.
        ///
        /// All options are supported. The other parameters are those of
        /// ``init(configuration:requestsPerHost:responseSizeLimit:timers:)``.
        ///
        /// - Throws: an error if the options are invalid.
        public init(
            tls: TLSOptions, configuration: CurlConfiguration = CurlConfiguration(), requestsPerHost: Int = 64,
            responseSizeLimit: Int = defaultResponseSizeLimit, timers: any Timers = SystemTimers.shared
        ) throws(TLSOptions.Refused) {
            let trust = try CurlTrust(tls, environment: ProcessInfo.processInfo.environment)
            (owner, entrance) = Self.make(configuration, trust, requestsPerHost, responseSizeLimit, timers)
        }

        private static func make(
            _ configuration: CurlConfiguration, _ trust: CurlTrust, _ requestsPerHost: Int, _ responseSizeLimit: Int,
            _ timers: any Timers
        ) -> (ExchangeOwner, Throttle) {
            let owner = ExchangeOwner(
                .init(
                    headers: configuration.headers, timeout: configuration.timeout,
                    // A request that takes longer has a deadline of its own, or is meant to.
                    resourceTimeout: .seconds(100 * 365 * 86_400), nameOfResourceTimeout: "the request's deadline",
                    responseSizeLimit: responseSizeLimit),
                over: CurlTransport(configuration, trust, timers: timers), timers: timers)
            return (owner, ExchangeTerminal.entrance("CurlLoader", to: owner, requestsPerHost))
        }

        public override var isTerminal: Bool { true }

        public override func load(task: HTTPTask) { entrance.load(task: task) }

        /// The throttle in which requests wait for their turn.
        public override var branches: [HTTPLoader] { [entrance] }

        /// The number of requests in flight, including bodies that are still arriving, and of requests that wait.
        public override var details: String { owner.details(waiting: entrance.snapshot.total.waiting) }
    }
#endif
