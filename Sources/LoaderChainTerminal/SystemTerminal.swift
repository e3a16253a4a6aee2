// LoaderChainTerminal: the terminal of the system, for code that runs on several. Exported with it is the module that it is from, whose
// settings and initializers it has.

#if os(Linux)
    @_exported import LoaderChainCurl

    /// The terminal of the system: a `CurlLoader` on Linux, and a `URLSessionLoader` on Apple systems.
    ///
    /// ```swift
    /// let chain = Throttle(perHost: 6) --> Retry() --> SystemTerminal()
    /// ```
    ///
    /// Both have the initializers `init(requestsPerHost:responseSizeLimit:timers:)` and
    /// `init(tls:requestsPerHost:responseSizeLimit:timers:)`; every parameter but `tls` may be left out.
    public typealias SystemTerminal = CurlLoader
#else
    @_exported import LoaderChainURLSession

    /// The terminal of the system: a `URLSessionLoader` on Apple systems, and a `CurlLoader` on Linux.
    ///
    /// ```swift
    /// let chain = Throttle(perHost: 6) --> Retry() --> SystemTerminal()
    /// ```
    ///
    /// Both have the initializers `init(requestsPerHost:responseSizeLimit:timers:)` and
    /// `init(tls:requestsPerHost:responseSizeLimit:timers:)`; every parameter but `tls` may be left out.
    public typealias SystemTerminal = URLSessionLoader
#endif
