/// Something that a loader has decided about an attempt, which the span of the attempt tells as an event.
package struct AttemptNote: Sendable {
    /// The name, one of a few.
    package let name: String
    /// When it was decided.
    package let moment: TimerInstant
    /// What describes it.
    package let values: [(key: String, value: Value)]

    /// A value that describes a decision.
    package enum Value: Hashable, Sendable {
        /// A word.
        case text(String)
        /// A time.
        case duration(Duration)
    }
}

/// The notes in an attempt's request.
private enum AttemptNotesOption: HTTPRequestOption {
    static var defaultOptionValue: [AttemptNote] { [] }
}

extension HTTPRequest {
    /// What loaders have decided about the attempt that the request is for; empty in programs without traces.
    package var attemptNotes: [AttemptNote] { self[option: AttemptNotesOption.self] }
}

extension HTTPTask {
    /// Notes a decision for the span of the attempt; only the owner of the task may call this.
    ///
    /// It costs next to nothing in programs without traces.
    @inline(__always)
    func note(
        _ name: @autoclosure () -> String, at moment: @autoclosure () -> TimerInstant,
        _ values: @autoclosure () -> [(key: String, value: AttemptNote.Value)] = []
    ) {
        if TraceCapture.isOn { add(AttemptNote(name: name(), moment: moment(), values: values())) }
    }

    @inline(never)
    private func add(_ note: AttemptNote) {
        let most = 16
        var request = request
        guard request.attemptNotes.count < most else { return }
        request[option: AttemptNotesOption.self].append(note)
        self.request = request
    }
}

/// The spans of attempts that race with each other, which link them.
package final class AttemptPair: Sendable {
    private let contexts = Locked<[HTTPTraceContext]>([])

    init() {}

    /// Adds the span of an attempt.
    func join(_ context: HTTPTraceContext) {
        let most = 8
        contexts.withLock { contexts in
            if contexts.count < most { contexts.append(context) }
        }
    }

    /// The spans beside one.
    package func others(than span: SpanID) -> [HTTPTraceContext] {
        contexts.withLock { $0 }.filter { $0.spanID != span }
    }
}

/// The attempts that race with the one that a request is for; nil for one that races with none.
private enum AttemptPairOption: HTTPRequestOption {
    static var defaultOptionValue: AttemptPair? { nil }
}

extension HTTPRequest {
    /// The attempts that race with the one that the request is for.
    package internal(set) var attemptPair: AttemptPair? {
        get { self[option: AttemptPairOption.self] }
        set { self[option: AttemptPairOption.self] = newValue }
    }
}
