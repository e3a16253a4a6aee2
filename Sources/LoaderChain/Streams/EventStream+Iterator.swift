import LoaderChainPlatformFoundation

extension EventStream {
    /// Reads a stream: connects, waits, and connects again.
    public struct Iterator: AsyncIteratorProtocol {
        private let stream: EventStream
        private var reconnection: Reconnection
        private var stage = Stage.ready

        private enum Stage {
            /// To connect.
            case ready
            case reading(Connection)
            /// To wait for a time, and then to connect.
            case waiting(Duration)
            case over
        }

        /// An open response.
        private struct Connection {
            let response: HTTPResponse
            var pieces: ResponsePieces
            var parser: EventParser
        }

        init(stream: EventStream) {
            self.stream = stream
            reconnection = Reconnection(stream.settings)
        }

        /// The next event, or nil at the end, and after an error.
        ///
        /// A loop calls this. An actor that reads, such as the main actor, is left only for a wait.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> ServerSentEvent? {
            do {
                while true {
                    switch stage {
                    case .over: return nil
                    case .ready: stage = try await connect(isolation: actor)
                    case .waiting(let delay): stage = try await wait(delay, isolation: actor)
                    case .reading(let connection):
                        // The parser's buffers have one owner, or each event would copy them.
                        stage = .over
                        if let event = try await read(connection, isolation: actor) { return event }
                    }
                }
            } catch {
                stage = .over
                stream.end()
                if case EventStream.Interruption.ended = error { return nil }
                throw error
            }
        }

        private mutating func connect(isolation actor: isolated (any Actor)?) async throws -> Stage {
            while let network = stream.missingNetwork {
                stream.change(to: .offline)
                try await stream.perform { try await network.waitUntilAvailable() }
                reconnection.noteNetwork()
            }
            stream.change(to: .connecting)
            let request = stream.nextRequest()
            let chain = stream.chain
            do {
                let response = try await stream.perform { try await chain.load(request) }
                if response.status == .noContent {
                    stream.end()
                    return .over
                }
                if let error = response.eventsProblem(isAccepted: response.status == .ok) { throw error }
                stream.change(to: .open)
                let parser = EventParser(
                    lastID: stream.lastEventID, limit: Swift.max(0, stream.settings.maximumEventBytes))
                return .reading(Connection(response: response, pieces: ResponsePieces(response), parser: parser))
            } catch let error as HTTPError where Reconnection.isTemporary(error) {
                return .waiting(nextDelay())
            }
        }

        /// Returns the next event of a connection; nil if the stage has changed.
        private mutating func read(
            _ connection: Connection, isolation actor: isolated (any Actor)?
        ) async throws -> ServerSentEvent? {
            var connection = connection
            do {
                while true {
                    let event = try connection.parser.next()
                    try stream.note(lastID: connection.parser.lastID)
                    if let event {
                        reconnection.noteEvent()
                        stage = .reading(connection)
                        return event
                    }
                    if let time = connection.parser.reconnectionTime { reconnection.noteTime(time) }
                    guard let piece = try await nextPiece(&connection.pieces, isolation: actor) else { break }
                    connection.parser.append(piece)
                }
            } catch let error as HTTPError where Reconnection.isTemporary(error) {
                // The connection was lost.
            } catch Interruption.silence {
                // Silence counts as a lost connection.
            } catch is CancellationError where !Task.isCancelled {
                // The limit of the silence has ended the transfer just when a piece came, so nobody was told of the silence.
            } catch {
                throw connection.response.streamError(error)
            }
            stage = .waiting(nextDelay())
            return nil
        }

        private func nextPiece(
            _ pieces: inout ResponsePieces, isolation actor: isolated (any Actor)?
        ) async throws -> Data? {
            let current = pieces
            let (piece, rest) = try await stream.perform(within: stream.settings.idleTime) {
                var rest = current
                return (try await rest.next(), rest)
            }
            pieces = rest
            return piece
        }

        private mutating func nextDelay() -> Duration { reconnection.delay(roll: stream.random.unit()) }

        private func wait(_ delay: Duration, isolation actor: isolated (any Actor)?) async throws -> Stage {
            stream.change(to: .waiting)
            let timers = stream.timers
            try await stream.perform { try await timers.sleep(for: delay) }
            return .ready
        }
    }
}

/// When a stream of events connects again: decisions, without a clock.
struct Reconnection: Sendable {
    private let maximumDelay: Duration
    private let pacing: Pacing
    /// How long to wait at least.
    private var time: Duration
    /// How many connections in a row have ended without an event.
    private var failures = 0

    init(_ settings: EventStream.Settings) {
        maximumDelay = Pacing.clamped(settings.maximumDelay)
        pacing = Pacing(first: .seconds(1), maximum: maximumDelay)
        time = min(Pacing.clamped(settings.reconnectionTime), maximumDelay)
    }

    /// Notes that an event has arrived, so that the connection was of use.
    mutating func noteEvent() { failures = 0 }

    /// Notes that there is a network again, so that earlier failures say nothing any more.
    mutating func noteNetwork() { failures = 0 }

    /// Notes how long the server wants to be left alone.
    mutating func noteTime(_ asked: Duration) { time = min(Pacing.clamped(asked), maximumDelay) }

    /// Returns how long to wait after the end of a connection; `roll` is a random number, from 0 up to 1.
    ///
    /// The random part spreads clients whose server was started again, and keeps one that asks for no delay from being asked in a
    /// tight loop. It grows while no event arrives.
    mutating func delay(roll: Double) -> Duration {
        failures += 1
        return time + pacing.delay(afterFailures: failures, roll: roll)
    }

    /// Whether a connection that ended with an error is made again.
    static func isTemporary(_ error: HTTPError) -> Bool {
        let meaning = ResultMeaning(error)
        return meaning == .unreachable || meaning == .lost
    }
}
