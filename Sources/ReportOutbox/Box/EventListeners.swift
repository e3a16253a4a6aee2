/// Who hears of events, each through a stream that keeps so many and no more.
///
/// The first stream is there before anybody asks for it, so that what happens while a box is opened is heard.
struct EventListeners {
    static let mostKept = 1_000

    private var continuations: [Int: AsyncStream<ReportEvent>.Continuation] = [:]
    private var firstStream: AsyncStream<ReportEvent>?
    private var lastNumber = 0
    private var hasEnded = false

    init() {
        let (stream, continuation) = Self.make()
        firstStream = stream
        continuations[0] = continuation
    }

    var all: [AsyncStream<ReportEvent>.Continuation] { Array(continuations.values) }

    static func make() -> (AsyncStream<ReportEvent>, AsyncStream<ReportEvent>.Continuation) {
        AsyncStream<ReportEvent>.makeStream(bufferingPolicy: .bufferingNewest(mostKept))
    }

    /// Adds a listener, and answers its number and its stream; the first gets the one that has been filling.
    mutating func add(
        _ made: (AsyncStream<ReportEvent>, AsyncStream<ReportEvent>.Continuation)
    ) -> (number: Int, stream: AsyncStream<ReportEvent>, continuation: AsyncStream<ReportEvent>.Continuation?) {
        if let firstStream {
            self.firstStream = nil
            return (0, firstStream, continuations[0])
        }
        lastNumber += 1
        if !hasEnded { continuations[lastNumber] = made.1 }
        return (lastNumber, made.0, made.1)
    }

    var isEnded: Bool { hasEnded }

    mutating func remove(_ number: Int) -> AsyncStream<ReportEvent>.Continuation? {
        continuations.removeValue(forKey: number)
    }

    /// Takes everybody out.
    mutating func end() -> [AsyncStream<ReportEvent>.Continuation] {
        hasEnded = true
        defer { continuations = [:] }
        return all
    }
}
