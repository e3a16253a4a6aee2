#if os(Linux)
    import LoaderChain
    import LoaderChainPlatformFoundation

    /// The settings of a ``CurlLoader`` that a single request cannot change.
    ///
    /// ```swift
    /// var configuration = CurlConfiguration()
    /// configuration.headers["User-Agent"] = "Compass/2.1"
    /// configuration.addresses["api.example.com"] = ["10.0.0.7"]
    /// let loader = CurlLoader(configuration: configuration)
    /// ```
    public struct CurlConfiguration: Sendable {
        /// Header fields for every request that does not have them; they do not follow a redirect to another host if they are secret.
        public var headers: HTTPHeaders = [:]
        /// How long a request may be idle, unless it says itself; a minute.
        public var timeout: Duration = .seconds(60)
        /// Whether HTTP/2 is used, over TLS with a server that has it; false.
        ///
        /// It takes libcurl 8.2 or newer, built with HTTP/2. Otherwise HTTP/1.1 is used: with an older libcurl, bodies that were cut could
        /// pass for whole ones.
        public var allowsHTTP2 = false
        /// The proxies; by default those of the environment.
        public var proxies = HTTPProxies.environment
        /// The addresses of hosts whose names are not to be looked up, each tried in turn.
        public var addresses: [String: [String]] = [:]
        /// About how many connections each thread keeps open for later requests; 256.
        public var idleConnections = 256
        /// The number of threads that share the requests, each with its own connections; 1.
        ///
        /// A thread carries tens of thousands of requests a second. More serve a program that does little else. More begin by
        /// themselves, up to 16, if there are hundreds of requests in flight, such as streams that wait for events.
        public var threads = 1
        /// Whether tasks complete on the thread that carries the requests; false.
        ///
        /// This saves the way to another thread. Nothing else is carried while your code runs, so it must not wait for anything, and
        /// certainly not for another request; with many requests in flight, throughput may be lower.
        public var completesOnCarryingThread = false

        /// Makes the settings that a loader has by default.
        public init() {}
    }

    /// The proxies through which requests are sent.
    ///
    /// ```swift
    /// var configuration = CurlConfiguration()
    /// configuration.proxies = HTTPProxies(
    ///     http: "http://proxy.example:3128", https: "http://user:secret@proxy.example:3128", except: ["localhost", ".internal"])
    /// ```
    ///
    /// A proxy is the URL of an HTTP, HTTPS or SOCKS proxy, with or without a user and a password. Requests over https go through a
    /// tunnel, so that the proxy sees neither their paths nor their bodies. Descriptions contain no credentials.
    public struct HTTPProxies: Hashable, Sendable {
        private let http: Secret<String?>
        private let https: Secret<String?>
        /// The hosts and domains that are reached directly.
        private let exceptions: [String]

        /// No proxy.
        public static let none = HTTPProxies(http: nil, https: nil)

        /// The proxies of the process's environment: `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`.
        ///
        /// All but the first may be in capitals too; `HTTP_PROXY` is not used, since a web server gives it to programs as a header of a
        /// stranger's request.
        /// Requests to this machine go through none: they may have secrets that must not leave it in plain text. Before version 7.86 of
        /// libcurl, this machine is `localhost`, `127.0.0.1` and `::1` alone.
        public static var environment: HTTPProxies { HTTPProxies(environment: ProcessInfo.processInfo.environment) }

        /// Makes proxies for the two schemes; nil for none.
        ///
        /// - Parameters:
        ///   - http: the proxy of requests over http.
        ///   - https: the proxy of requests over https.
        ///   - exceptions: hosts that are reached directly: a name with its subdomains, an address, a network such as
        ///     `10.0.0.0/8` (from version 7.86 of libcurl on), or `*` alone for all.
        public init(http: String?, https: String?, except exceptions: [String] = []) {
            self.http = Secret(http)
            self.https = Secret(https)
            self.exceptions = exceptions
        }

        init(environment: [String: String]) {
            func value(_ names: String...) -> String? {
                names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
            }
            let all = value("all_proxy", "ALL_PROXY")
            let (http, https) = (value("http_proxy") ?? all, value("https_proxy", "HTTPS_PROXY") ?? all)
            guard http != nil || https != nil else {
                self = .none
                return
            }
            let named = (value("no_proxy", "NO_PROXY") ?? "").split { $0 == "," || $0 == " " }.map(String.init)
            let exceptions = named == ["*"] ? named : named + ["localhost", "127.0.0.1", "127.0.0.0/8", "::1"]
            self.init(http: http, https: https, except: exceptions)
        }

        /// The proxy of a scheme, as libcurl reads it; empty for none.
        func proxy(for scheme: String) -> String { (scheme == "https" ? https.value : http.value) ?? "" }

        var listOfExceptions: String { exceptions.joined(separator: ",") }

        /// Why the proxy of a scheme cannot be used; libcurl's own message would contain its credentials.
        func fault(for scheme: String) -> String? {
            let proxy = proxy(for: scheme)
            guard !proxy.isEmpty else { return nil }
            let known = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
            let named = proxy.firstRange(of: "://").map { proxy[..<$0.lowerBound].lowercased() } ?? "http"
            let url = URL(string: proxy.contains("://") ? proxy : "http://" + proxy)
            guard !proxy.utf8.contains(0), known.contains(named), url?.host(percentEncoded: true)?.isEmpty == false
            else {
                return
                    "The proxy for \(scheme) is not the URL of an HTTP or SOCKS proxy; write it as in http://host:3128"
            }
            return nil
        }
    }

    extension HTTPProxies: CustomStringConvertible {
        /// The hosts of the proxies, and the exceptions.
        public var description: String {
            let proxies = ["http", "https"].compactMap { scheme in
                let proxy = proxy(for: scheme)
                let host = proxy[(proxy.lastIndex(of: "@").map { proxy.index(after: $0) } ?? proxy.startIndex)...]
                return proxy.isEmpty ? nil : "\(scheme) through \(host)"
            }
            let list = proxies.isEmpty ? "none" : proxies.joined(separator: ", ")
            return exceptions.isEmpty || proxies.isEmpty ? list : "\(list), except \(listOfExceptions)"
        }
    }

    /// The socket that a request is sent to; nil, the default, for the host of its URL.
    private enum UnixSocketOption: HTTPRequestOption {
        static var defaultOptionValue: String? { nil }
    }

    extension HTTPRequest {
        /// The path of a Unix socket to which the request is sent instead of its host; nil, the default, for none.
        ///
        /// ```swift
        /// var request = HTTPRequest(scheme: "http", host: "localhost", path: "/v1.43/containers/json")
        /// request.unixSocket = "/var/run/docker.sock"
        /// ```
        ///
        /// The host is still what the header `Host` names. A `CurlLoader` uses it; redirects go to the same socket. Loaders such as
        /// `Deduplicate`, `Throttle` or `KeepCookies` know servers by their hosts, so give each socket a host of its own.
        public var unixSocket: String? {
            get { self[option: UnixSocketOption.self] }
            set { self[option: UnixSocketOption.self] = newValue }
        }
    }
#endif
