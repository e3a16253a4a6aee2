#if os(Linux)
    import CLoaderChainCurl
    import LoaderChain
    import LoaderChainPlatformC
    import LoaderChainPlatformFoundation

    /// The numbers of libcurl's options, which never change.
    enum CurlOption {
        // Numbers and flags.
        static let noBody: Int32 = 44
        static let isUpload: Int32 = 46
        static let freshConnection: Int32 = 74
        static let httpVersion: Int32 = 84
        static let bufferSize: Int32 = 98
        static let noSignals: Int32 = 99
        static let protocols: Int32 = 181
        static let tlsVersion: Int32 = 32
        static let connectTimeout: Int32 = 156
        static let pathAsIs: Int32 = 234
        static let proxyTLSVersion: Int32 = 250
        static let waitsForMultiplexing: Int32 = 237
        static let suppressesConnectHeaders: Int32 = 265
        static let refusesUserInURL: Int32 = 278
        static let quickExit: Int32 = 322
        // Texts and objects.
        static let bodyObject: Int32 = 10_001
        static let url: Int32 = 10_002
        static let proxy: Int32 = 10_004
        static let readObject: Int32 = 10_009
        static let errorText: Int32 = 10_010
        static let bodyBytes: Int32 = 10_015
        static let headers: Int32 = 10_023
        static let certificate: Int32 = 10_025
        static let passphrase: Int32 = 10_026
        static let headObject: Int32 = 10_029
        static let method: Int32 = 10_036
        static let authorities: Int32 = 10_065
        static let certificateForm: Int32 = 10_086
        static let key: Int32 = 10_087
        static let keyForm: Int32 = 10_088
        static let authoritiesFolder: Int32 = 10_097
        static let socketObject: Int32 = 10_149
        static let seekObject: Int32 = 10_168
        static let noProxy: Int32 = 10_177
        static let addresses: Int32 = 10_203
        static let pins: Int32 = 10_230
        static let unixSocket: Int32 = 10_231
        static let target: Int32 = 10_266
        static let proxyAuthorities: Int32 = 10_246
        static let proxyAuthoritiesFolder: Int32 = 10_247
        static let beforeRequestObject: Int32 = 10_313
        // Functions.
        static let body: Int32 = 20_011
        static let read: Int32 = 20_012
        static let head: Int32 = 20_079
        // Lengths.
        static let uploadLength: Int32 = 30_115
        static let bodyLength: Int32 = 30_120
        // Of sets of transfers.
        static let connections: Int32 = 6
    }

    /// The numbers of what libcurl knows of a transfer.
    enum CurlInfo {
        static let requestSize: Int32 = 0x20_000C
        static let proxyStatus: Int32 = 0x20_0016
        static let systemError: Int32 = 0x20_0019
        static let newConnections: Int32 = 0x20_001A
        static let nameLookupTime: Int32 = 0x60_0033
        static let connectTime: Int32 = 0x60_0034
        static let readyTime: Int32 = 0x60_0035
        static let firstByteTime: Int32 = 0x60_0036
        static let secureTime: Int32 = 0x60_0038
    }

    /// A text as C has it, which is passed on without a copy.
    typealias CText = [CChar]

    /// Texts in one piece of memory, for options that libcurl reads while a transfer lasts.
    struct CurlList {
        private let memory: UnsafeMutableRawPointer
        let first: UnsafeMutablePointer<loaderchain_curl_list>?

        /// Makes a list of the texts that a closure adds; it is called twice, first to measure them.
        init(_ addTexts: (inout Writer) -> Void) {
            var measure = Writer()
            addTexts(&measure)
            let nodesLength = measure.count * MemoryLayout<loaderchain_curl_list>.stride
            memory = .allocate(
                byteCount: nodesLength + measure.length, alignment: MemoryLayout<loaderchain_curl_list>.alignment)
            let nodes = memory.bindMemory(to: loaderchain_curl_list.self, capacity: measure.count)
            first = measure.count > 0 ? nodes : nil
            let bytes = UnsafeMutableRawBufferPointer(start: memory + nodesLength, count: measure.length)
            var writer = Writer(place: (UnsafeMutableBufferPointer(start: nodes, count: measure.count), bytes))
            addTexts(&writer)
        }

        func end() { memory.deallocate() }

        /// Measures the texts of a list, or writes them to their place.
        struct Writer {
            typealias Place = (
                nodes: UnsafeMutableBufferPointer<loaderchain_curl_list>, bytes: UnsafeMutableRawBufferPointer
            )

            fileprivate var place: Place?
            fileprivate var count = 0
            fileprivate var length = 0

            /// Adds a text, in three parts.
            mutating func add(_ name: String, _ mark: String, _ value: String) {
                if let place {
                    let text = place.bytes.baseAddress.map { ($0 + length).assumingMemoryBound(to: CChar.self) }
                    let next = count + 1 < place.nodes.count ? place.nodes.baseAddress.map { $0 + count + 1 } : nil
                    place.nodes.initializeElement(at: count, to: loaderchain_curl_list(text: text, next: next))
                }
                count += 1
                append(name)
                append(mark)
                append(value)
                place?.bytes[length] = 0
                length += 1
            }

            private mutating func append(_ part: String) {
                if let place {
                    UnsafeMutableRawBufferPointer(rebasing: place.bytes[length...]).copyBytes(from: part.utf8)
                }
                length += part.utf8.count
            }
        }
    }

    /// A handle of libcurl, which serves one transfer after the other; it belongs to the loop's thread.
    final class CurlHandle {
        let pointer: OpaquePointer
        /// Where libcurl says what failed.
        private let words: UnsafeMutablePointer<CChar>

        private static let largestText = 256

        /// An option without which the request must not be sent, and that libcurl has refused.
        private(set) var refusedOption: Int32?

        /// nil if libcurl has no memory left.
        init?() {
            guard let pointer = loaderchain_curl_easy_make() else { return nil }
            self.pointer = pointer
            words = .allocate(capacity: Self.largestText)
            words.initialize(repeating: 0, count: Self.largestText)
        }

        deinit {
            loaderchain_curl_easy_end(pointer)
            words.deallocate()
        }

        /// Forgets everything but its connections.
        func reset() {
            loaderchain_curl_easy_reset(pointer)
            words[0] = 0
            refusedOption = nil
        }

        var errorText: String { String(cString: words) }

        func number(_ info: Int32) -> Int {
            var value = 0
            _ = loaderchain_curl_get_number(pointer, info, &value)
            return value
        }

        func size(_ info: Int32) -> Int64 {
            var value: Int64 = 0
            _ = loaderchain_curl_get_size(pointer, info, &value)
            return value
        }

        /// Whether libcurl waits for the address of a host.
        var isResolving: Bool { size(CurlInfo.nameLookupTime) == 0 && size(CurlInfo.readyTime) == 0 }

        /// How many bytes of the request have been sent so far, on all connections.
        var bytesOfRequest: Int { number(CurlInfo.requestSize) }

        // MARK: Options

        private func set(_ option: Int32, _ value: Int) { _ = loaderchain_curl_set_number(pointer, option, value) }
        private func set(_ option: Int32, _ text: String?) { _ = loaderchain_curl_set_text(pointer, option, text) }
        private func set(_ option: Int32, _ text: CText) { _ = loaderchain_curl_set_text(pointer, option, text) }

        /// Sets an option without which the request must not be sent.
        private func require(_ option: Int32, _ text: String) {
            if loaderchain_curl_set_text(pointer, option, text) != 0 { refusedOption = option }
        }

        private func require(_ option: Int32, _ text: CText) {
            if loaderchain_curl_set_text(pointer, option, text) != 0 { refusedOption = option }
        }

        private func require(_ option: Int32, _ value: Int) {
            if loaderchain_curl_set_number(pointer, option, value) != 0 { refusedOption = option }
        }

        private func set(_ option: Int32, object: UnsafeMutableRawPointer?) {
            _ = loaderchain_curl_set_object(pointer, option, object)
        }

        /// Sets everything but the body; the request may be idle for `timeout`, libcurl's calls get `transfer`, and the returned lists must
        /// stay until the transfer has ended.
        func set(
            _ request: EncodedRequest, length: Int64, timeout: Duration, for transfer: UnsafeMutableRawPointer,
            of transport: CurlTransport
        ) -> (headers: CurlList?, addresses: CurlList?) {
            set(CurlOption.errorText, object: words)
            set(CurlOption.noSignals, 1)
            set(CurlOption.pathAsIs, 1)
            set(CurlOption.suppressesConnectHeaders, 1)
            set(CurlOption.refusesUserInURL, 1)
            set(CurlOption.quickExit, 1)
            // HTTP and HTTPS; files could be read otherwise.
            require(CurlOption.protocols, 3)
            require(CurlOption.url, request.url.absoluteString)
            setConnectTimeout(timeout, transport)
            switch request.method {
            // Without an option, the method is GET.
            case .get: break
            // With another method alone, libcurl would wait for a body.
            case .head: set(CurlOption.noBody, 1)
            default: require(CurlOption.method, request.method.rawValue)
            }
            setConnection(request, transport)
            let headers = setHeaders(of: request, length: length)
            setCalls(to: transfer, isIdempotent: request.method.isIdempotent)
            return (headers, setAddresses(of: request, transport.configuration.addresses))
        }

        /// Limits the time for connecting, of which libcurl gives half to the first of several addresses; the exchange ends the rest.
        private func setConnectTimeout(_ timeout: Duration, _ transport: CurlTransport) {
            // If the limit ends while some versions look up a name, the whole thread waits for that; most lookups end within a minute.
            let least: Double = transport.leavesResolver ? 1 : 60
            set(CurlOption.connectTimeout, Int(min(max(least, timeout / .seconds(1)), 600) * 1000))
        }

        private func setConnection(_ request: EncodedRequest, _ transport: CurlTransport) {
            let isSecure = request.request.scheme == "https"
            // 4 is HTTP/2 over TLS with a server that has it, and 2 is HTTP/1.1.
            set(CurlOption.httpVersion, transport.usesHTTP2 ? 4 : 2)
            // A connection that is being made may serve this request too, if it has HTTP/2.
            if isSecure, transport.usesHTTP2 { set(CurlOption.waitsForMultiplexing, 1) }
            // Without these, libcurl looks at the environment for every request.
            let proxy = request.request.unixSocket == nil ? transport.proxy(isSecure: isSecure) : .none
            require(CurlOption.proxy, proxy.address.value)
            set(CurlOption.noProxy, proxy.exceptions)
            // Without this, newer versions leave out the question mark of an empty query.
            if request.request.query?.isEmpty == true, isSecure || !proxy.takesWholeURL {
                let path = request.request.path
                require(CurlOption.target, (path.hasPrefix("/") ? path : "/" + path) + "?")
            }
            if let socket = request.request.unixSocket { require(CurlOption.unixSocket, socket) }
            if isSecure { setTrust(transport.trust, host: request.request.host ?? "") }
            if proxy.isSecure { setProxyTrust(transport.trust) }
        }

        private func setTrust(_ trust: CurlTrust, host: String) {
            if let authorities = trust.authorities {
                require(CurlOption.authorities, authorities.path)
                // With a folder beside it, libcurl would read the file for every connection.
                set(CurlOption.authoritiesFolder, nil as String?)
            }
            if let identity = trust.certificate {
                require(CurlOption.certificate, identity.certificate.path)
                require(CurlOption.certificateForm, identity.form)
                if let key = identity.key { require(CurlOption.key, key.path) }
                require(CurlOption.keyForm, identity.keyForm)
                // Without any, OpenSSL would ask for it on the terminal.
                require(CurlOption.passphrase, identity.passphrase.value ?? "")
            }
            if let pins = trust.options.pins(for: host) {
                require(CurlOption.pins, pins.map { "sha256//\($0.base64)" }.sorted().joined(separator: ";"))
            }
            require(CurlOption.tlsVersion, trust.lowestVersion)
        }

        /// A proxy that is reached over TLS must be trusted like a server, but sees no certificate of the client.
        private func setProxyTrust(_ trust: CurlTrust) {
            if let authorities = trust.authorities {
                require(CurlOption.proxyAuthorities, authorities.path)
                set(CurlOption.proxyAuthoritiesFolder, nil as String?)
            }
            require(CurlOption.proxyTLSVersion, trust.lowestVersion)
        }

        private func setHeaders(of request: EncodedRequest, length: Int64) -> CurlList? {
            // A stream of unknown length may have turned out to be empty.
            let isEmptyStream = length == 0 && request.content.length == nil
            // A part of an encoded body could not be decoded.
            let mayBeEncoded = !request.headers.contains("Accept-Encoding") && !request.headers.contains("Range")
            let list = CurlList { list in
                for (index, field) in request.headers.enumerated() where mayList(field.name, length, isEmptyStream) {
                    // Fields with the same name are one, at the place of the first.
                    let isFirst = !request.headers.prefix(index).contains {
                        ASCII.isEqualIgnoringCase($0.name, field.name)
                    }
                    guard isFirst else { continue }
                    let value = request.headers[field.name] ?? ""
                    // An empty value needs this form, or libcurl leaves the name out.
                    if value.isEmpty { list.add(field.name, ";", "") } else { list.add(field.name, ": ", value) }
                }
                // libcurl would add these, and wait for a server's consent to a body.
                if length > 0 {
                    list.add("Expect", ":", "")
                    if !request.headers.contains("Content-Type") { list.add("Content-Type", ":", "") }
                }
                if !request.headers.contains("Accept") { list.add("Accept", ":", "") }
                if isEmptyStream { list.add("Content-Length", ":", " 0") }
                if mayBeEncoded, !BodyDecoder.accepted.isEmpty {
                    list.add("Accept-Encoding", ": ", BodyDecoder.accepted)
                }
            }
            _ = loaderchain_curl_set_list(pointer, CurlOption.headers, list.first)
            return list
        }

        /// Whether a request's own field is sent: libcurl writes a body's length itself, and with Expect it would send some requests again.
        private func mayList(_ name: String, _ length: Int64, _ isEmptyStream: Bool) -> Bool {
            if length > 0 || isEmptyStream, ASCII.isEqualIgnoringCase(name, "Content-Length") { return false }
            return !ASCII.isEqualIgnoringCase(name, "Expect")
        }

        private func setAddresses(of request: EncodedRequest, _ addresses: [String: [String]]) -> CurlList? {
            guard !addresses.isEmpty, let host = request.request.host?.lowercased(),
                let port = request.request.portToConnect,
                let list = addresses.first(where: { $0.key.lowercased() == host })?.value, !list.isEmpty
            else { return nil }
            let known = list.map { $0.contains(":") && !$0.hasPrefix("[") ? "[\($0)]" : $0 }.joined(separator: ",")
            let entries = CurlList { list in list.add("\(host):\(port)", ":", known) }
            _ = loaderchain_curl_set_list(pointer, CurlOption.addresses, entries.first)
            return entries
        }

        private func setCalls(to transfer: UnsafeMutableRawPointer, isIdempotent: Bool) {
            set(CurlOption.headObject, object: transfer)
            set(CurlOption.bodyObject, object: transfer)
            set(CurlOption.beforeRequestObject, object: transfer)
            set(CurlOption.socketObject, object: transfer)
            _ = loaderchain_curl_set_before_connecting(pointer) { transfer, socket, _ in
                guard let transfer = CurlTransfer.from(transfer), !transfer.isStopped else { return 1 }
                if var milliseconds = transfer.mostSilence {
                    setsockopt(
                        socket, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds,
                        socklen_t(MemoryLayout<UInt32>.size))
                }
                return 0
            }
            _ = loaderchain_curl_set_piece(pointer, CurlOption.head) { bytes, size, count, transfer in
                guard let bytes, let transfer = CurlTransfer.from(transfer) else { return 0 }
                return transfer.takeHead(UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
            }
            _ = loaderchain_curl_set_piece(pointer, CurlOption.body) { bytes, size, count, transfer in
                guard let bytes, let transfer = CurlTransfer.from(transfer) else { return 0 }
                return transfer.takeBody(UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
            }
            let isKnown = loaderchain_curl_set_before_request(pointer) { transfer, _, _, _, _ in
                CurlTransfer.from(transfer)?.maySend() == true ? 0 : 1
            }
            // Before version 7.80, only a connection of its own keeps a request from being sent twice.
            if isKnown != 0, !isIdempotent { set(CurlOption.freshConnection, 1) }
        }

        /// Sets how much of a response's body is received at once.
        func setBuffer(_ size: Int) { set(CurlOption.bufferSize, size) }

        /// Sets a body that is sent with its head.
        func setBody(_ bytes: UnsafeRawBufferPointer) {
            _ = loaderchain_curl_set_size(pointer, CurlOption.bodyLength, Int64(bytes.count))
            set(CurlOption.bodyBytes, object: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
        }

        /// Sets a body that libcurl reads from the transfer.
        func setBody(ofLength length: Int64, from transfer: UnsafeMutableRawPointer) {
            set(CurlOption.isUpload, 1)
            _ = loaderchain_curl_set_size(pointer, CurlOption.uploadLength, length)
            set(CurlOption.readObject, object: transfer)
            set(CurlOption.seekObject, object: transfer)
            _ = loaderchain_curl_set_piece(pointer, CurlOption.read) { buffer, size, count, transfer in
                guard let buffer, let transfer = CurlTransfer.from(transfer) else { return 0 }
                return transfer.giveBody(UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
            }
            _ = loaderchain_curl_set_seek(pointer) { transfer, offset, origin in
                // Only from the beginning; 1 is a failure.
                origin == 0 && CurlTransfer.from(transfer)?.seekBody(to: offset) == true ? 0 : 1
            }
        }
    }

    extension CurlTransfer {
        /// The transfer of one of libcurl's calls.
        fileprivate static func from(_ pointer: UnsafeMutableRawPointer?) -> CurlTransfer? {
            pointer.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
        }
    }
#endif
