import LoaderChain
import LoaderChainPlatformFoundation

/// One connection, served by one thread from its first byte to its last.
package struct LoopbackConnection: Sendable {
    let number: Int
    package let socket: LoopbackSocket
    let core: LoopbackCore

    /// What to do with the connection after a reply.
    private enum Ending {
        case serveNext
        /// Close it in an orderly way.
        case close
        case reset
        /// Close it at once, because the client has left or the server stops.
        case drop
    }

    private static let bufferSize = 16 << 10
    /// How long, and for how many bytes, the client may keep sending after the last reply.
    private static let lingering = (time: Duration.seconds(5), bytes: 16 << 20)
    /// The longest wait; a longer one might overflow its deadline.
    private static let longestWait = Duration.seconds(365 * 86_400)

    func run() {
        var parser = LoopbackRequestParser(limits: core.limits, connection: number)
        var buffer = [UInt8](repeating: 0, count: Self.bufferSize)
        var ending = Ending.serveNext
        while case .serveNext = ending {
            switch parser.next() {
            case .needsMore:
                if let bytes = receive(into: &buffer) { parser.feed(bytes) } else { ending = .drop }
            case .continueExpected:
                if !send(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)) { ending = .drop }
            case .request(let request):
                ending = answer(request)
            case .refused(let refusal):
                ending = refuse(refusal)
            }
        }
        switch ending {
        case .serveNext, .drop:
            break
        case .close:
            linger(reading: &buffer)
        case .reset:
            socket.resetOnClose()
        }
    }

    private func answer(_ request: LoopbackRequest) -> Ending {
        core.record(request)
        guard let reply = core.reply(to: request) else { return .drop }
        return send(reply, to: request)
    }

    private func refuse(_ refusal: LoopbackRefusal) -> Ending {
        let reply = LoopbackReply.text(refusal.explanation + "\n", status: refusal.status).closing()
        return send(reply, to: .unreadable)
    }

    private func send(_ reply: LoopbackReply, to request: LoopbackRequest) -> Ending {
        for step in LoopbackPlan(reply, to: request).steps {
            switch step {
            case .send(let bytes):
                guard send(bytes) else { return .drop }
            case .drip(let bytes, let portion, let interval):
                guard drip(bytes, portion: portion, interval: interval) else { return .drop }
            case .wait(let duration):
                guard pause(duration) else { return .drop }
            case .hold:
                guard hold(request) else { return .drop }
            case .close:
                return .close
            case .reset:
                return .reset
            }
        }
        return .serveNext
    }

    /// Ends the sending side, and waits until the client does: closing with unread bytes resets the connection, and may lose the reply.
    private func linger(reading buffer: inout [UInt8]) {
        socket.finishSending()
        let deadline = ContinuousClock.now + Self.lingering.time
        var budget = Self.lingering.bytes
        while budget > 0, let bytes = receive(into: &buffer, until: deadline) { budget -= bytes.count }
    }
}

// MARK: - Waiting, also for the server to stop

extension LoopbackConnection {
    /// The next bytes; nil if there will be no more.
    package func receive(
        into buffer: inout [UInt8], until deadline: ContinuousClock.Instant? = nil
    ) -> ArraySlice<UInt8>? {
        while true {
            let isReady = LoopbackWatch.wait(
                [.readable(core.stopping.descriptor), .readable(socket.descriptor)], until: deadline)
            if isReady[0] || !isReady[1] { return nil }
            switch socket.receive(into: &buffer) {
            case .bytes(let count): return buffer[..<count]
            case .nothingYet: continue
            case .end: return nil
            }
        }
    }

    /// Sends all bytes; false if the client has left or the server stops.
    package func send(_ bytes: Data) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                guard let count = socket.send(UnsafeRawBufferPointer(rebasing: rest)) else { return false }
                rest = rest.dropFirst(count)
                if count == 0 {
                    let isReady = LoopbackWatch.wait(
                        [.readable(core.stopping.descriptor), .writable(socket.descriptor)])
                    if isReady[0] { return false }
                }
            }
            return true
        }
    }

    private func drip(_ bytes: Data, portion: Int, interval: Duration) -> Bool {
        var rest = bytes[...]
        while true {
            guard send(rest.prefix(portion)) else { return false }
            rest = rest.dropFirst(portion)
            if rest.isEmpty { return true }
            guard pause(interval) else { return false }
        }
    }

    private func pause(_ duration: Duration) -> Bool {
        let deadline = ContinuousClock.now + duration.clamped(to: .zero...Self.longestWait)
        return rest(until: deadline) == .timeIsUp
    }

    /// Holds the reply until the test releases it; without a descriptor for that, the reply is dropped.
    private func hold(_ request: LoopbackRequest) -> Bool {
        guard let signal = try? LoopbackSignal() else { return false }
        let number = core.ledger.change { $0.hold(request, signal: signal) }
        defer { core.release { $0.number == number } }
        return rest(until: nil, or: signal) == .released
    }

    private enum Waking {
        case timeIsUp
        case released
        /// The client has left, or the server stops.
        case useless
    }

    /// Waits for the deadline, the signal, or the end; notices if the client leaves meanwhile.
    private func rest(until deadline: ContinuousClock.Instant?, or signal: LoopbackSignal? = nil) -> Waking {
        var watchesClient = true
        while true {
            // Without a signal, the stop signal takes its place, so that the indices stay the same.
            let releasing = signal ?? core.stopping
            var watches: [LoopbackWatch] = [.readable(core.stopping.descriptor), .readable(releasing.descriptor)]
            if watchesClient { watches.append(.readable(socket.descriptor)) }
            let isReady = LoopbackWatch.wait(watches, until: deadline)
            if isReady[0] { return .useless }
            if isReady[1] { return .released }
            guard watchesClient, isReady[2] else { return .timeIsUp }
            switch socket.peek() {
            case .end: return .useless
            case .bytes: watchesClient = false  // The next request; the end behind it cannot be seen yet.
            case .nothingYet: break
            }
        }
    }
}

extension LoopbackConnection {
    /// A connection to a port of this machine, which also ends with the server; whoever opens it closes its socket.
    package func opening(_ port: Int) -> LoopbackConnection? {
        LoopbackSocket.connected(to: port).map { LoopbackConnection(number: 0, socket: $0, core: core) }
    }
}

extension LoopbackRequest {
    fileprivate static let unreadable = LoopbackRequest(
        method: .get, target: "/", minorVersion: 0, headers: [:], trailers: [:], body: Data(), raw: Data(),
        connection: 0)
}

/// The thread that accepts connections.
struct LoopbackListener: Sendable {
    let socket: LoopbackSocket
    let core: LoopbackCore

    /// How long to wait before the next attempt when the process has run out of descriptors.
    private static let pauseWhenExhausted = Duration.milliseconds(50)

    func run() {
        var isExhausted = false
        while true {
            var watches: [LoopbackWatch] = [.readable(core.stopping.descriptor), .readable(core.ending.descriptor)]
            let accepts = !isExhausted && core.ledger.read(\.openConnections) < core.limits.connections
            if accepts { watches.append(.readable(socket.descriptor)) }
            let deadline = isExhausted ? ContinuousClock.now + Self.pauseWhenExhausted : nil
            let isReady = LoopbackWatch.wait(watches, until: deadline)
            isExhausted = false
            if isReady[0] { break }
            if isReady[1] { core.ending.lower() }
            guard accepts, isReady[2] else { continue }
            switch socket.accept() {
            case .connection(let accepted): core.serve(accepted)
            case .gone: break  // The client has left between the two calls.
            case .exhausted: isExhausted = true
            }
        }
        // A child process that is just being started has a copy, which would keep the port until its program begins.
        socket.end()
        socket.close()
    }
}
