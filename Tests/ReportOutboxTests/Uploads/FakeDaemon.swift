import DurableFilesTesting
import LoaderChain
import LoaderChainPlatformFoundation

@testable import ReportOutbox

/// The system's side of background uploads, which survives the deaths of the app, and the server.
///
/// Nothing happens by itself: a test decides when the system answers, when bytes arrive and when events are delivered.
final class FakeDaemon: Sendable {
    private struct Upload {
        let id: UploadID
        let key: String
        let file: String
        var hasArrived = false
        var status = HTTPStatus.ok
    }

    private struct State {
        var launch = 0
        var engine: UploadEngine?
        var questions: [@Sendable ([UploadID]) -> Void] = []
        var running: [Upload] = []
        /// The events that the app has not received.
        var events: [(id: UploadID, key: String, end: UploadEnd)] = []
        var begun = 0
        var stopped = 0
        var finished = 0
        /// The number of accepted uploads, by key.
        var accepted: [String: Int] = [:]
        /// The number of lost answers.
        var lostAnswers: [String: Int] = [:]
        var faults: [String] = []
    }

    private let disk: MemoryDirectory
    private let folder: String
    private let state = Locked(State())

    /// Reads uploads from a folder of the disk.
    init(_ disk: MemoryDirectory, folder: String) { (self.disk, self.folder) = (disk, folder) }

    var accepted: [String: Int] { state.withLock { $0.accepted } }
    var lostAnswers: [String: Int] { state.withLock { $0.lostAnswers } }
    var faults: [String] { state.withLock { $0.faults } }
    /// The number of uploads that were started.
    var begun: Int { state.withLock { $0.begun } }
    /// The number of uploads that the app has stopped.
    var stopped: Int { state.withLock { $0.stopped } }
    /// The number of sessions that should end after their uploads.
    var finished: Int { state.withLock { $0.finished } }
    /// The number of uploads that have not ended.
    var running: Int { state.withLock { $0.running.count } }
    /// Whether the app waits for the list of uploads.
    var isAsked: Bool { state.withLock { !$0.questions.isEmpty } }
    /// Whether an upload is in flight to the server.
    var isSending: Bool { state.withLock { !$0.running.allSatisfy(\.hasArrived) } }
    /// Whether the server has an upload whose answer has not arrived.
    var isAnswering: Bool { state.withLock { $0.running.contains(where: \.hasArrived) } }
    /// Whether events are outstanding.
    var hasEvents: Bool { state.withLock { !$0.events.isEmpty } }

    /// The session of a new launch; queries of an earlier one are not answered.
    func connect(_ engine: UploadEngine) -> any UploadSession {
        let launch = state.withLock { state in
            state.launch += 1
            state.engine = engine
            state.questions = []
            return state.launch
        }
        return Session(daemon: self, launch: launch)
    }

    /// Ends the connection of a launch that has ended.
    func disconnect() {
        // Released outside the lock.
        _ = state.withLock { replace(&$0.engine, with: nil) }
        state.withLock { $0.questions = [] }
    }

    // MARK: Events that a test triggers

    /// Answers a query with the list of uploads.
    func list() {
        let (questions, listed) = state.withLock { state in
            (replace(&state.questions, with: []), state.running.map(\.id))
        }
        for question in questions { question(listed) }
    }

    /// Delivers the oldest upload to the server, which accepts it unless it answers otherwise.
    func arrive(_ status: HTTPStatus = .ok) {
        guard let upload = state.withLock({ $0.running.first { !$0.hasArrived } }) else { return }
        let bytes = disk.bytes(of: folder + "/" + upload.file)
        state.withLock { state in
            guard let index = state.running.firstIndex(where: { $0.id == upload.id }) else { return }
            if bytes == nil { state.faults.append("The file of \(upload.key) was gone while it was uploaded") }
            if let bytes, bytes != UploadLife.content(upload.key) {
                state.faults.append("\(upload.key) arrived as something else")
            }
            state.running[index].hasArrived = true
            state.running[index].status = status
            if status.isSuccess { state.accepted[upload.key, default: 0] += 1 }
        }
    }

    /// Delivers the server's oldest answer.
    func answer(_ headers: HTTPHeaders = [:]) {
        state.withLock { state in
            guard let index = state.running.firstIndex(where: \.hasArrived) else { return }
            let upload = state.running.remove(at: index)
            state.events.append((upload.id, upload.key, .answered(upload.status, headers)))
        }
    }

    /// Breaks the oldest connection.
    func cut() {
        state.withLock { state in
            guard !state.running.isEmpty else { return }
            let upload = state.running.removeFirst()
            if upload.hasArrived, upload.status.isSuccess { state.lostAnswers[upload.key, default: 0] += 1 }
            state.events.append((upload.id, upload.key, .failed(.connectionLost)))
        }
    }

    /// Delivers an outstanding event to the app; it is lost if the app dies meanwhile.
    func deliver() {
        guard let engine = state.withLock({ $0.engine }), !disk.isDead else { return }
        let events = state.withLock { replace(&$0.events, with: []) }
        for event in events { engine.ended(event.id, event.end) }
        engine.drain()
        guard disk.isDead else { return }
        for event in events where event.end.isAccepted && isWithoutAnswer(event.id) {
            state.withLock { $0.lostAnswers[event.key, default: 0] += 1 }
        }
    }

    /// Whether the app died before it had saved the answer to an upload.
    private func isWithoutAnswer(_ id: UploadID) -> Bool {
        guard let bytes = disk.bytes(of: folder + "/" + id.text + ".upload") else { return false }
        return UploadRecord(encoded: bytes)?.answer == nil
    }

    /// Reports the end of an old or unknown upload to the app.
    func deliver(_ end: UploadEnd, of id: UploadID) { state.withLock { $0.engine }?.ended(id, end) }

    /// Delivers all events to the app, and reports that they are complete.
    func finishEvents() {
        deliver()
        guard !disk.isDead else { return }
        state.withLock { $0.engine }?.eventsAreDelivered()
    }

    // MARK: Calls of the app

    private struct Session: UploadSession {
        let daemon: FakeDaemon
        let launch: Int

        func uploads(_ answer: @escaping @Sendable ([UploadID]) -> Void) {
            change { $0.questions.append(answer) }
        }

        func start(_ id: UploadID, _ request: EncodedRequest, bodyIn file: String) {
            change { state in
                state.begun += 1
                state.running.append(Upload(id: id, key: request.headers["Idempotency-Key"] ?? "", file: file))
            }
        }

        func stop(_ id: UploadID) {
            change { state in
                guard let index = state.running.firstIndex(where: { $0.id == id }) else { return }
                state.stopped += 1
                let upload = state.running.remove(at: index)
                state.events.append((id, upload.key, .failed(.cancelled)))
            }
        }

        func finish() { change { $0.finished += 1 } }

        /// Calls of a process after its death are ignored.
        private func change(_ change: (inout State) -> Void) {
            guard !daemon.disk.isDead else { return }
            daemon.state.withLock { if $0.launch == launch { change(&$0) } }
        }
    }
}

extension UploadEnd {
    fileprivate var isAccepted: Bool { if case .answered(let status, _) = self { status.isSuccess } else { false } }
}
