import LoaderChainPlatformFoundation
import Synchronization

/// The state that all handles of one task share, behind one lock.
///
/// The caller holds one `HTTPTask` and another one goes down the chain, so that a caller that keeps its handle does not
/// hide that the chain has let go of the task. Both refer to one core, as does anything that remembers a task without
/// being responsible for it.
final class TaskCore: Sendable {
    /// The number that the task's id is made of; it rises in the order in which tasks are made.
    let number: UInt64
    /// The task that this attempt works for.
    let parent: TaskCore?
    /// Whether an observer is registered for the waits of this task or of the task that it works for; without one, a wait costs
    /// a read of this byte.
    let observesWaits: Atomic<Bool>
    private let holder = Atomic(0)
    private let state: InPlaceLocked<State>

    typealias Flags = InPlaceLocked<State>.Flags

    /// The part of a task that threads share.
    struct State: Sendable {
        var life = TaskLife()
        var request: HTTPRequest
        var attempts = AttemptList()
        /// The waits that are not over, each with the observers that were called at its beginning.
        var waits: [[ObjectIdentifier]] = []
        var deadlineTimer: (any ScheduledTimer)?
    }

    init(_ request: HTTPRequest, worksFor parent: TaskCore? = nil) {
        let request = parent == nil && TraceCapture.isOn ? request.withCurrentTrace : request
        number = TaskIdentity.next()
        self.parent = parent
        observesWaits = Atomic(parent?.observesWaits.load(ordering: .acquiring) ?? false)
        let hasDeadline =
            request.namesDeadline && request.deadline != nil || parent?.flags.contains(.hasDeadline) ?? false
        state = InPlaceLocked(State(request: request), hasDeadline ? .hasDeadline : [])
        if hasDeadline { beginDeadline() }
    }

    /// Runs `body` under the lock; it calls no user code, and releases nothing that may be the last reference to a user's object.
    @inline(__always)
    func withState<Result: Sendable>(_ body: (inout State, inout Flags) -> Result) -> Result {
        state.withLock(body)
    }

    /// The flags, read without the lock.
    var flags: Flags {
        @inline(__always) get { state.flags }
    }

    /// The number of the name of the loader that has the task, zero before there is one; relaxed, because nothing else depends on it.
    var holderNumber: Int { holder.load(ordering: .relaxed) }

    @inline(__always)
    func noteHolder(_ number: Int) { holder.store(number, ordering: .relaxed) }

    /// Removes an attempt that has ended from the list, and releases it outside the lock.
    func forget(_ attempt: TaskCore) {
        _ = withState { state, _ in state.attempts.remove(attempt) }
    }

    /// Notes that the waits of this task and of its attempts are observed.
    @inline(never)
    func observeWaits() {
        observesWaits.store(true, ordering: .releasing)
        for attempt in withState({ state, _ in state.attempts.all }) { attempt.observeWaits() }
    }

    /// Cancels the attempts that are under way, oldest first.
    @inline(never)
    func cancelAttempts() {
        let attempts = withState { state, _ in state.attempts.all }
        let isExpired = flags.contains(.expired)
        for attempt in attempts.sorted(by: { $0.number < $1.number }) {
            HTTPTask(for: attempt).stop(atDeadline: isExpired)
        }
    }
}

extension TaskCore.Flags {
    static var cancelled: Self { Self(rawValue: 1) }
    static var completed: Self { Self(rawValue: 2) }
    /// The cancel came from the deadline.
    static var expired: Self { Self(rawValue: 4) }
    static var hasDeadline: Self { Self(rawValue: 8) }
    /// The head of a response has arrived, of this task or of one that works for it.
    static var answered: Self { Self(rawValue: 16) }

    var isOpen: Bool { isDisjoint(with: [.cancelled, .completed]) }
}

// MARK: - The deadline

/// A timer ends the task, unless the task that it works for ends no later.
extension TaskCore {
    /// The deadline in force; without one, this only reads a flag.
    var deadline: Deadline? {
        @inline(__always) get { flags.contains(.hasDeadline) ? readDeadline() : nil }
    }

    @inline(never)
    private func readDeadline() -> Deadline? { withState { state, _ in state.request.deadline } }

    /// Takes over the deadline of the task that this one works for, unless its own is earlier.
    @inline(never)
    private func beginDeadline() {
        guard let limit = parent?.deadline else { return watchDeadline() }
        // Otherwise the end of the parent ends this one in time.
        if let deadline, deadline.isEarlier(than: limit) { return watchDeadline() }
        var request = withState { state, _ in state.request }
        request.deadline = limit
        withState { state, _ in swap(&state.request, &request) }
    }

    /// Puts a request in the place of another, which ends outside the lock: it may hold the last reference to a user's object.
    ///
    /// Of the deadlines of both, the earlier one stays in force.
    @inline(never)
    func replaceRequest(with request: HTTPRequest) {
        let old = deadline
        var (request, isEarlier) = (request, false)
        if let new = request.deadline { isEarlier = old.map { new.isEarlier(than: $0) } ?? true }
        if !isEarlier { request.deadline = old }
        withState { state, flags in
            swap(&state.request, &request)
            flags.insert(.hasDeadline)
        }
        if isEarlier { watchDeadline() }
    }

    @inline(never)
    private func watchDeadline() {
        guard let deadline else { return }
        if deadline.hasPassed { return expire() }
        let timer = deadline.schedule { self.end() }
        let unused = withState { state, flags in
            flags.contains(.completed) ? timer : replace(&state.deadlineTimer, with: timer)
        }
        unused?.cancel()
    }

    /// Cancels the timer of a task that has ended, or that nothing refers to any more.
    @inline(never)
    func unwatchDeadline() {
        withState { state, _ in replace(&state.deadlineTimer, with: nil) }?.cancel()
    }

    /// Ends the task if its deadline has come, since a timer may be late; returns whether there is time left.
    @inline(never)
    func hasTime() -> Bool {
        guard let deadline, deadline.hasPassed else { return true }
        expire()
        return false
    }

    private func expire() {
        HTTPTask(for: self).stop(atDeadline: true)
    }

    /// Ends the task, whatever the loader that has it makes of its cancel; what that completes it with later is dropped.
    private func end() {
        let task = HTTPTask(for: self)
        // Before the cancel, which ends attempts.
        let holder = lastHolderName
        task.stop(atDeadline: true)
        if !task.isCompleted { task.complete(.failure(HTTPError(.cancelled, request: task.request, loader: holder))) }
    }

    /// The loader that has the task, or the last attempt that works for it.
    var lastHolderName: String? {
        let attempts = withState { state, _ in state.attempts.all }
        let last = attempts.max { $0.number < $1.number }
        return last?.lastHolderName ?? HTTPTask(for: self).holderName
    }
}

// MARK: - Numbers of tasks and loaders

/// Numbers the tasks of a process, and makes a UUID of a number.
///
/// A random UUID costs more than a whole task should. These are made of 60 random bits per process and a counter, so
/// that a task only counts, and the UUID is made when it is read. They have version 8, which the standard leaves to
/// such schemes.
enum TaskIdentity {
    private static let counter = Atomic<UInt64>(0)
    private static let process = UUID()

    static func next() -> UInt64 {
        counter.wrappingAdd(1, ordering: .relaxed).oldValue
    }

    /// The number of the task that is made next; tasks that exist have lower ones.
    static var following: UInt64 { counter.load(ordering: .relaxed) }

    static func uuid(_ number: UInt64) -> UUID {
        var bytes = process.uuid
        withUnsafeMutableBytes(of: &bytes) { bytes in
            bytes[6] = 0x80 | (bytes[6] & 0x0F)
            // The last 62 bits are the number, combined with bits of the process, so that two processes have different ids.
            var tail = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            tail ^= number
            tail = (tail & 0x3FFF_FFFF_FFFF_FFFF) | 0x8000_0000_0000_0000
            bytes.storeBytes(of: tail.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        return UUID(uuid: bytes)
    }
}

/// The names of loaders in descriptions and errors, as numbers that stand for the texts.
///
/// A task remembers which loader has it, and may outlive that loader. Names are therefore kept for the life of the process,
/// each once, and a task notes a name with a plain store; a reference would cost two atomic operations per loader.
enum LoaderName {
    private struct Known {
        var numbers: [String: Int] = [:]
        var texts: [String] = []
    }

    private static let known = Locked(Known())

    /// The number of a name: its position in the list of all, counted from one.
    static func number(of text: String) -> Int {
        known.withLock { known in
            if let number = known.numbers[text] { return number }
            known.texts.append(text)
            known.numbers[text] = known.texts.count
            return known.texts.count
        }
    }

    /// The text for a number; nil for zero, which means no name.
    static func text(_ number: Int) -> String? {
        number == 0 ? nil : known.withLock { $0.texts[number - 1] }
    }
}
