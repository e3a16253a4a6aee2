#if os(Linux)
    import CLoaderChainCurl
    import LoaderChain
    import LoaderChainPlatformC
    import LoaderChainPlatformFoundation
    import Synchronization

    /// The threads and the settings of a loader.
    final class CurlTransport: Transport {
        let configuration: CurlConfiguration
        private let proxies: HTTPProxies
        private let proxy: (http: Proxy, https: Proxy)
        let trust: CurlTrust
        let timers: any Timers
        /// The library, which is loaded with the first request.
        private var library: Result<CurlLibrary, CurlLibrary.Missing> { CurlLibrary.system }
        var usesHTTP2: Bool { configuration.allowsHTTP2 && (try? library.get())?.hasSoundHTTP2 == true }
        var countsSentBytes: Bool { (try? library.get())?.countsSentBytes == true }
        var leavesResolver: Bool { (try? library.get())?.leavesResolver == true }
        /// The threads that run; more begin when they are needed.
        private let loops = Locked<[CurlLoop]>([])
        private let numbers = Atomic(0)
        /// The process that has the threads; a child of it does not have them.
        private let process = getpid()

        init(_ configuration: CurlConfiguration, _ trust: CurlTrust, timers: any Timers) {
            self.configuration = configuration
            self.trust = trust
            self.timers = timers
            proxies = configuration.proxies
            proxy = (Proxy(proxies, "http"), Proxy(proxies, "https"))
        }

        /// A proxy, as libcurl reads it.
        struct Proxy {
            let address: Secret<CText>
            /// The hosts that are reached directly.
            let exceptions: CText
            /// Whether requests over http name the host in their first line.
            let takesWholeURL: Bool
            /// Whether the proxy itself is reached over TLS.
            let isSecure: Bool

            static let none = Proxy(HTTPProxies.none, "http")

            fileprivate init(_ proxies: HTTPProxies, _ scheme: String) {
                let text = proxies.proxy(for: scheme)
                address = Secret(CText(text.utf8CString))
                exceptions = CText((text.isEmpty ? "*" : proxies.listOfExceptions).utf8CString)
                // Without a scheme, it is an HTTP proxy, whatever its name.
                let isSOCKS = text.lowercased().hasPrefix("socks") && text.contains("://")
                takesWholeURL = !text.isEmpty && !isSOCKS
                isSecure = text.lowercased().hasPrefix("https:")
            }
        }

        func proxy(isSecure: Bool) -> Proxy { isSecure ? proxy.https : proxy.http }

        /// How many transfers a thread has before another one begins: libcurl looks at each of them whenever one has something to do.
        private static let mostPerThread = 100
        /// How many threads there are at most, however many transfers.
        private static let mostThreads = 16

        /// The thread for the next transfer; nil if the system can make none.
        private func loop(_ library: CurlLibrary) -> CurlLoop? {
            let usual = max(1, configuration.threads)
            let number = numbers.wrappingAdd(1, ordering: .relaxed).oldValue % usual
            return loops.withLock { loops in
                while loops.count < usual {
                    guard let loop = newLoop(library) else { return loops.randomElement() }
                    loops.append(loop)
                }
                if loops[number].count < Self.mostPerThread { return loops[number] }
                if let free = loops.first(where: { $0.count < Self.mostPerThread }) { return free }
                guard loops.count < max(usual, Self.mostThreads), let loop = newLoop(library) else {
                    return loops.min { $0.count < $1.count }
                }
                loops.append(loop)
                return loop
            }
        }

        private func newLoop(_ library: CurlLibrary) -> CurlLoop? {
            CurlLoop(
                library, idleConnections: min(max(0, configuration.idleConnections), 65_535),
                endsOnLoop: configuration.completesOnCarryingThread, hasHTTP2: usesHTTP2)
        }

        var patience: Duration? { nil }

        /// True: transfers end on a queue for it, or on the loop's thread if the app says so.
        var endsWhereCodeMayRun: Bool { true }

        /// A stream runs the app's code, which must not hold up the other transfers.
        func needsFile(for content: HTTPBodyContent) -> Bool {
            content.length == nil || content.segments.contains { if case .stream = $0 { true } else { false } }
        }

        func refusal(of request: HTTPRequest) -> TransferFailure? {
            if let reason = trust.options.reasonNotToSend(request) {
                return TransferFailure(.insecureConnection, reason)
            }
            if request.unixSocket != nil, case .success(let library) = library, !library.hasUnixSockets {
                return TransferFailure(.invalidRequest, "This system's libcurl was built without Unix sockets")
            }
            if request.unixSocket?.utf8.contains(0) == true {
                return TransferFailure(.invalidRequest, "The path of the Unix socket contains a NUL")
            }
            if let fault = proxies.fault(for: request.scheme) { return TransferFailure(.invalidRequest, fault) }
            return nil
        }

        func send(_ request: EncodedRequest, _ content: HTTPBodyContent, for exchange: Exchange) {
            let library: CurlLibrary
            switch self.library {
            case .success(let found): library = found
            case .failure(let missing): return exchange.fail(TransferFailure(.cannotConnect, missing.description))
            }
            guard getpid() == process else {
                return exchange.fail(
                    TransferFailure(
                        .cannotConnect,
                        "The loader was created before the process forked, and has no thread here; start a program rather than loading in a forked child"
                    ))
            }
            guard let loop = loop(library) else {
                return exchange.fail(
                    TransferFailure(.cannotConnect, "The system has no thread or no descriptor left for libcurl"))
            }
            let transfer = CurlTransfer(request, content, for: exchange, on: loop, self)
            if exchange.begin(transfer) { loop.start(transfer) }
        }
    }
#endif
