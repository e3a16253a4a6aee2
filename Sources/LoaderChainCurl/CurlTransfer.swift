#if os(Linux)
    import CLoaderChainCurl
    import LoaderChain
    import LoaderChainPlatformC
    import LoaderChainPlatformFoundation

    /// One request to one server: a handle of libcurl, from its start to its end.
    ///
    /// But for its making and ``report(_:)``, everything happens on the loop's thread.
    final class CurlTransfer: Transfer, @unchecked Sendable {
        enum Ending: Sendable {
            case arrived
            case failed(CurlFailure)
            /// It was stopped on this side.
            case stopped
            /// There was no handle left.
            case outOfMemory
        }

        let request: EncodedRequest
        let transport: CurlTransport
        private let content: HTTPBodyContent
        private let loop: CurlLoop
        private let begin: TimerInstant
        /// The exchange, until the transfer ends: an exchange keeps its transfer.
        private var exchange: Exchange?

        /// The handle, while libcurl has it.
        private(set) var handle: CurlHandle?
        /// Whether it was stopped, so that libcurl must not begin it, or must not go on with it.
        private(set) var isStopped = false
        /// Whether it has reported its end although libcurl still has its handle.
        var isLeft = false
        private var handover: TimerInstant?
        private var headers: CurlList?
        private var addresses: CurlList?
        private var reader: HTTPBodyReader?
        /// The bytes of a body that is sent in one piece, where libcurl reads them.
        private var bytes: UnsafeMutableRawBufferPointer?
        private var bytesLeft: Int64 = 0
        private var head = HeadReader()
        private var decoder: BodyDecoder?
        /// Where a body is gathered that is not for memory; nil if none is.
        private var gathering: CurlGathering?
        private var gathered = Data()
        private var version: String?
        /// Why this side has ended the transfer.
        private var refusal: TransferFailure?
        /// Whether nobody wants more of the body, which may go on arriving.
        private var isBodyUnwanted = false
        /// How many bytes of it have come since.
        private var unwantedBytes = 0
        /// What libcurl had sent before it first asked whether to send the request, such as CONNECT to a proxy.
        private var bytesBeforeRequest: Int?
        private var times: CurlTimes?

        init(
            _ request: EncodedRequest, _ content: HTTPBodyContent, for exchange: Exchange, on loop: CurlLoop,
            _ transport: CurlTransport
        ) {
            self.request = request
            self.content = content
            self.exchange = exchange
            self.loop = loop
            self.transport = transport
            begin = exchange.legBegin
        }

        func cancel() { loop.stop(self) }

        /// How many milliseconds a connection may wait for its host; nil for as long as the system does by default.
        ///
        /// One of HTTP/2 to a host that is gone would be used until the system gives it up.
        var mostSilence: UInt32? {
            guard transport.usesHTTP2, let timeout = exchange?.timeout else { return nil }
            return Self.mostSilence(for: timeout)
        }

        static func mostSilence(for timeout: Duration) -> UInt32? {
            // By default, the system waits for about a quarter of an hour, and must not wait longer for the sake of one request.
            guard timeout < .seconds(900) else { return nil }
            return UInt32(max(60, timeout / .seconds(1)) * 1000)
        }

        // MARK: The loop

        /// Sets all options of a handle that has none; returns whether libcurl knows all that matter.
        func start(on handle: CurlHandle, _ gathering: CurlGathering) -> Bool {
            self.handle = handle
            handover = transport.timers.now
            let this = Unmanaged.passUnretained(self).toOpaque()
            (headers, addresses) = handle.set(
                request, length: content.length ?? 0, timeout: exchange?.timeout ?? .zero, for: this, of: transport)
            setBody(of: handle)
            if case .inMemory = request.request.delivery {
            } else {
                self.gathering = gathering
                handle.setBuffer(CurlGathering.mostBytes)
            }
            guard let option = handle.refusedOption else { return true }
            let isRequests = [CurlOption.url, CurlOption.method, CurlOption.unixSocket].contains(option)
            return refuse(
                TransferFailure(
                    isRequests ? .invalidRequest : .insecureConnection,
                    "This system's libcurl cannot do what the request or the TLS options ask for: it refuses option \(option)"
                ))
        }

        /// The largest body that is sent together with its head.
        private static let largestPiece = 64 << 10

        private func setBody(of handle: CurlHandle) {
            guard let length = content.length, length > 0 else { return }
            if length <= Self.largestPiece, content.segments.count == 1, case .data(let data) = content.segments[0] {
                let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: data.count, alignment: 1)
                copy.copyBytes(from: data)
                bytes = copy
                handle.setBody(UnsafeRawBufferPointer(copy))
            } else {
                rewind()
                handle.setBody(ofLength: length, from: Unmanaged.passUnretained(self).toOpaque())
            }
        }

        private func rewind() {
            reader = content.makeReader()
            bytesLeft = content.length ?? 0
        }

        /// Notes that the transfer must end; returns whether libcurl has it.
        func stop() -> Bool {
            isStopped = true
            return handle != nil
        }

        /// Releases what belongs to the handle, and returns how the transfer has ended.
        func end(_ result: Int32) -> (CurlHandle?, Ending) {
            let handle = replace(&handle, with: nil)
            replace(&headers, with: nil)?.end()
            replace(&addresses, with: nil)?.end()
            replace(&bytes, with: nil)?.deallocate()
            reader = nil
            guard let handle else { return (nil, .stopped) }
            if times == nil, !isLeft { times = CurlTimes(handle) }
            if isStopped { return (handle, .stopped) }
            guard result != 0 else { return (handle, .arrived) }
            return (handle, .failed(CurlFailure(result, of: handle)))
        }

        // MARK: Called by libcurl

        /// Takes a line of a head, or a trailer; returns whether to go on.
        func takeHead(_ line: UnsafeRawBufferPointer) -> Bool {
            guard !isStopped, let exchange else { return false }
            switch head.take(line) {
            case .nothing:
                return true
            case .interim:
                exchange.noteActivity()
                return true
            case .refused(let reason):
                return refuse(TransferFailure(.invalidResponse, reason))
            case .head(let head):
                version = head.version
                if let handle { times = CurlTimes(handle) }
                if let sent = bytes?.count { exchange.didSend(Int64(sent)) }
                // A response without a body has nothing to decode, whatever its head says; nor has a redirect that is followed.
                let hasBody = request.method != .head && head.status != .noContent && head.status != .notModified
                do throws(BodyDecoder.Fault) {
                    if hasBody { decoder = try .make(for: head.headers, to: request.headers) }
                } catch  where head.status.isRedirection {
                    decoder = nil
                } catch {
                    return refuse(TransferFailure(.invalidResponse, error.reason))
                }
                isBodyUnwanted = !exchange.receive(head.status, head.headers)
                return true
            }
        }

        /// Takes bytes of the body; returns whether to go on.
        func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
            guard !isStopped, let exchange else { return false }
            guard !isBodyUnwanted else {
                // A redirect that is followed may have a body without an end.
                exchange.noteActivity()
                unwantedBytes += bytes.count
                return unwantedBytes <= Self.mostUnwantedBytes
            }
            guard let decoder else {
                if let gathering { gather(bytes, gathering) } else { deliver(Data(bytes)) }
                return true
            }
            exchange.noteActivity()
            do throws(BodyDecoder.Fault) {
                // A decoder makes any number of bytes of a few, so it ends with the wish for them.
                try decoder.decode(Array(bytes)[...]) {
                    deliver(Data($0))
                    return !isBodyUnwanted
                }
                return true
            } catch {
                return refuse(TransferFailure(.invalidResponse, error.reason))
            }
        }

        private func deliver(_ data: Data) {
            if let exchange { isBodyUnwanted = !exchange.receive(data) }
        }

        private func gather(_ bytes: UnsafeRawBufferPointer, _ gathering: CurlGathering) {
            let isLast = bytes.count < CurlGathering.piece
            guard !gathered.isEmpty || !isLast else { return deliver(Data(bytes)) }
            if gathered.isEmpty {
                gathering.transfers.append(self)
                gathered = Data(bytes)
            } else {
                // Over TLS there often is one piece, which needs no room for more.
                if gathered.count == CurlGathering.piece { gathered.reserveCapacity(CurlGathering.mostBytes) }
                gathered.append(contentsOf: bytes)
            }
            if isLast || gathered.count > CurlGathering.mostBytes - CurlGathering.piece { deliverGathered() }
        }

        func deliverGathered() {
            guard !gathered.isEmpty else { return }
            let data = replace(&gathered, with: Data())
            if !isStopped, !isBodyUnwanted { deliver(data) }
        }

        /// How much of a body that nobody wants is read, to keep its connection.
        private static let mostUnwantedBytes = 64 << 10

        /// What libcurl's function for a request's body returns to end the transfer.
        private static let abort = 0x1000_0000

        /// Gives the next bytes of the request's body; returns how many.
        func giveBody(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
            guard !isStopped, let exchange else { return Self.abort }
            // libcurl sends what is beyond the announced length too, and the server would take it for another request.
            let wanted = Int(min(Int64(buffer.count), bytesLeft))
            guard wanted > 0 else { return 0 }
            do {
                guard let piece = try reader?.read(upTo: wanted), piece.count <= wanted else {
                    throw HTTPBodyError("The body ended before its announced length.", code: .wrongLength)
                }
                piece.withUnsafeBytes { buffer.copyMemory(from: $0) }
                bytesLeft -= Int64(piece.count)
                exchange.didSend(Int64(piece.count))
                return piece.count
            } catch {
                _ = refuse(
                    TransferFailure(
                        .invalidRequest, "The body could not be read while it was sent", underlyingError: error))
                return Self.abort
            }
        }

        /// Goes back to the beginning of the request's body; returns whether that is possible.
        func seekBody(to offset: Int64) -> Bool {
            guard offset == 0, !isStopped, let exchange else { return false }
            // What was sent is not sent any more.
            exchange.didSend(bytesLeft - (content.length ?? 0))
            rewind()
            return true
        }

        /// Called when a connection is there; returns whether to send the request.
        ///
        /// If a kept connection turns out to be dead, libcurl sends the request again on another one, whatever its method, although the
        /// server may have processed it. Bytes that were sent since it first asked show that.
        func maySend() -> Bool {
            guard !isStopped, let handle else { return false }
            guard !request.method.isIdempotent else { return true }
            guard let bytesBeforeRequest else {
                bytesBeforeRequest = handle.bytesOfRequest
                return true
            }
            if transport.countsSentBytes, handle.bytesOfRequest <= bytesBeforeRequest { return true }
            return refuse(
                TransferFailure(
                    .connectionLost,
                    "The connection ended after the request was sent, and a \(request.method) must not be sent twice; send it again if that is safe"
                ))
        }

        private func refuse(_ failure: TransferFailure) -> Bool {
            if refusal == nil { refusal = failure }
            return false
        }

        // MARK: The end

        /// Tells the exchange how the transfer has ended; called once, on a thread on which the user's code may run.
        func report(_ ending: Ending) {
            guard let exchange else { return }
            exchange.ended { self.outcome(of: ending, for: exchange) }
            self.exchange = nil
        }

        private func outcome(of ending: Ending, for exchange: Exchange) -> TransferEnding {
            if let refusal { return .failed(refusal) }
            if unwantedBytes > Self.mostUnwantedBytes { return .arrived(trailers: [:]) }
            switch ending {
            case .stopped:
                return .failed(TransferFailure(.cancelled, nil))
            case .outOfMemory:
                return .failed(TransferFailure(.cannotConnect, "libcurl has no memory left for a transfer"))
            case .failed(let failure):
                return .failed(failure.meaning(afterHead: exchange.head != nil))
            case .arrived:
                // libcurl takes a head that was cut for a response without a body.
                guard head.isWhole else {
                    return .failed(
                        TransferFailure(.connectionLost, "The connection ended within the head of the response"))
                }
                do throws(BodyDecoder.Fault) {
                    if !isBodyUnwanted { try decoder?.finish() }
                    return .arrived(trailers: head.trailers)
                } catch {
                    return .failed(TransferFailure(.invalidResponse, error.reason))
                }
            }
        }

        func measure(
            _ metrics: inout TransferMetrics, firstByte: TimerInstant?, until end: TimerInstant, isWhole: Bool
        ) {
            metrics.networkProtocol = version.map { $0.hasPrefix("1") ? "http/\($0)" : "h\($0)" }
            guard let times else { return }
            metrics.reusedConnection = times.isReused
            metrics.phases = TransferPhases(
                queue: handover.map { begin.duration(to: $0) }, nameLookup: times.nameLookup, connect: times.connect,
                secureConnection: times.secureConnection, waiting: times.waiting,
                receiving: isWhole ? firstByte.map { $0.duration(to: end) } : nil)
        }
    }

    /// Joins the pieces that libcurl makes of what it has read at once; for a file or a task, each would cost more than its bytes.
    ///
    /// It belongs to the loop's thread.
    final class CurlGathering {
        /// The most that libcurl hands on in one call.
        static let piece = 16 << 10
        static let mostBytes = 128 << 10

        /// The transfers that have gathered bytes since the last turn of the loop, or have handed them on already.
        fileprivate var transfers: [CurlTransfer] = []

        /// Hands on what has been gathered in a turn, so that nothing waits for more to come.
        func endTurn() {
            guard !transfers.isEmpty else { return }
            for transfer in transfers { transfer.deliverGathered() }
            transfers.removeAll(keepingCapacity: true)
        }
    }

    struct CurlTimes: Sendable {
        let isReused: Bool
        let nameLookup: Duration?
        let connect: Duration?
        let secureConnection: Duration?
        let waiting: Duration?

        init(_ handle: CurlHandle) {
            func time(_ info: Int32) -> Int64 { handle.size(info) }
            let (lookup, connect) = (time(CurlInfo.nameLookupTime), time(CurlInfo.connectTime))
            let (secure, ready) = (time(CurlInfo.secureTime), time(CurlInfo.readyTime))
            let firstByte = time(CurlInfo.firstByteTime)
            let isNew = handle.number(CurlInfo.newConnections) != 0
            func phase(_ begin: Int64, _ end: Int64) -> Duration? {
                // A phase that did not take place has no time.
                end > 0 && end >= begin ? .microseconds(end - begin) : nil
            }
            isReused = !isNew
            nameLookup = isNew ? phase(0, lookup) : nil
            self.connect = isNew ? phase(lookup, connect) : nil
            secureConnection = isNew ? phase(connect, secure) : nil
            waiting = phase(ready, firstByte)
        }
    }

    struct CurlFailure: Sendable {
        let result: Int32
        /// libcurl's own words.
        let words: String
        /// The number of the system's error; 0 for none.
        var system = 0
        /// The status with which a proxy refused a tunnel; 0 for none.
        var proxyStatus = 0

        /// What it means for a request; `afterHead` says that the head of a response had arrived.
        func meaning(afterHead: Bool) -> TransferFailure {
            if proxyStatus != 0, !(200..<300).contains(proxyStatus) {
                return TransferFailure(
                    .cannotConnect, "The proxy refused a tunnel to the host with status \(proxyStatus)")
            }
            let code = code == .cannotConnect && afterHead ? .connectionLost : code
            // Of a proxy's address, libcurl would repeat the password.
            var said = [4, 5].contains(result) || words.isEmpty ? CurlLibrary.text(of: result) : words
            if result == 7, system != 0 { said += ": " + String(cString: strerror(Int32(system))).lowercased() }
            return TransferFailure(code, "libcurl: \(ASCII.printable(String(said.prefix(300)))) (\(result))")
        }

        private var code: HTTPError.Code {
            switch result {
            case 3, 49, 67: .invalidRequest
            case 5, 6, 7, 45, 97: .cannotConnect
            case 28: .timedOut
            // A connection that ended within the handshake is none, rather than one that is not secure.
            case 35: Self.endings.contains(where: words.contains) ? .cannotConnect : .insecureConnection
            case 53, 54, 58, 59, 60, 64, 66, 77, 80, 82, 83, 90, 91, 98: .insecureConnection
            // A server of TLS 1.3 refuses a client after the handshake.
            case 56 where words.contains(" alert "): .insecureConnection
            // A proxy that has ended the connection, or answered with no HTTP: nothing has reached the server.
            case 56 where words.contains("CONNECT"): .cannotConnect
            case 56:
                // Otherwise the connection was lost, for which libraries for TLS have many words, and some no error of the system.
                ASCII.contains(words, lowercase: "chunk") || words.contains("response headers")
                    ? .invalidResponse : .connectionLost
            case 16, 18, 42, 52, 55, 65, 92, 95: .connectionLost
            case 1, 8, 23, 27, 43, 61, 100: .invalidResponse
            case 63: .responseTooLarge
            default: .unknown
            }
        }

        private static let endings = [
            "SSL_ERROR_SYSCALL", "error:00000000:", "unexpected eof", "Connection reset", "Broken pipe",
            "non-properly terminated",
        ]
    }

    extension CurlFailure {
        init(_ result: Int32, of handle: CurlHandle) {
            self.init(
                result: result, words: handle.errorText, system: handle.number(CurlInfo.systemError),
                proxyStatus: handle.number(CurlInfo.proxyStatus))
        }
    }
#endif
