import LoaderChain
import LoaderChainGzip
import LoaderChainPlatformFoundation

/// What a sender has learnt about its server, and what it keeps from one batch to the next.
///
/// Any number of batches may be on their way at once.
struct ServerKnowledge: Sendable {
    private struct State {
        var compressesLines = true
        var hasTakenCompressed = false
        var limit = SizeLimit()
        var encoder: GzipEncoder?
    }

    private let state = Locked(State())

    /// Whether the server may be able to read compressed lines.
    var compressesLines: Bool { state.withLock(\.compressesLines) }

    /// Whether the server has read compressed lines before.
    var hasTakenCompressed: Bool { state.withLock(\.hasTakenCompressed) }

    /// Notes that it has.
    func noteTakenCompressed() { state.withLock { $0.hasTakenCompressed = true } }

    /// Notes that it cannot; true for the first who does.
    func stopCompressing() -> Bool {
        state.withLock { replace(&$0.compressesLines, with: false) }
    }

    /// How large a request may be.
    var limit: SizeLimit { state.withLock(\.limit) }

    /// Notes what a batch has told of that; of batches at the same time, the last one counts.
    func note(_ limit: SizeLimit) { state.withLock { $0.limit = limit } }

    /// The bytes as a gzip stream, if that is shorter.
    func compressed(_ bytes: Data) -> Data? {
        // A thread that comes while the encoder is in use makes another one, and one of them stays.
        guard let encoder = state.withLock({ replace(&$0.encoder, with: nil) }) ?? GzipEncoder() else { return nil }
        defer { _ = state.withLock { replace(&$0.encoder, with: encoder) } }
        guard let compressed = encoder.compressed(bytes), compressed.count < bytes.count else { return nil }
        return compressed
    }
}
