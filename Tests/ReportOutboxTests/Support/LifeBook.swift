import DurableFilesTesting
import LoaderChain
import LoaderChainPlatformFoundation

@testable import ReportOutbox

/// The invariants of an outbox over all its lives, checked against the app's calls, the server's view and the events.
///
/// It is independent of the implementation. Every accepted report is delivered, still held, or reported as lost, once and for a
/// valid reason: a rejection by the server, an exceeded age, a flipped bit.
struct LifeBook {
    /// A report, from its acceptance until its outcome is reported.
    private struct Stay {
        /// Whether the outbox holds it.
        var isHeld = true
        /// The number of reported drops; one of them may be this report's, the others those of earlier dead letters.
        var unsureDrops = 0
        /// Whether a process ended before it could report that the report left.
        var mayHaveLeft = false
        var beganAt: TimerInstant
        /// The maximum error of its age because of clock changes.
        var clockSlack = Duration.zero
        var offsets: [Duration]
        /// Whether it was a dead letter before, and was returned.
        var wasTakenBack = false
        /// Whether the app was notified that it is in the outbox; another process may have found it nevertheless.
        var isPromised = true
        /// The maximum number of counted attempts.
        var attempts = 0
    }

    let maximumAge: Duration
    let maximumAttempts: Int
    /// The capacity of an outbox that drops the oldest reports; nil for an outbox that rejects new ones.
    let capacityOfOldest: Int?
    let maximumDeadLetter: Int

    private var stays: [String: Stay] = [:]
    private var deadLetters: [String: Int] = [:]
    private var answers: [String: FakeServer.Answer] = [:]
    private var clockOffset = Duration.zero
    /// The reports that the app purged.
    private var purged: Set<String> = []
    /// The reports that the handler of existing reports may have dropped.
    var droppedByHandler: Set<String> = []
    /// Whether the user has ever denied consent.
    var wasConsentDenied = false
    /// The reports with a flipped bit in their files, or with a removed file.
    var hurt: Set<String> = []
    /// The reports among them whose file was removed; an outbox that does not find a file cannot know of it.
    var vanished: Set<String> = []
    private(set) var faults: [String] = []
    private(set) var losses: [String: Int] = [:]

    /// The longest plausible age; a longer one is due to a wrong clock.
    private static let longestAge = Duration.seconds(60 * 24 * 3600)

    init(_ settings: OutboxSettings) {
        maximumAge = settings.maximumAge
        maximumAttempts = settings.maximumAttempts
        capacityOfOldest = settings.whenFull == .dropOldest ? settings.maximumCount : nil
        maximumDeadLetter = settings.maximumDeadLetterCount
    }

    // MARK: Calls of the app

    /// Notes that a dead letter is returned; returns a closure that undoes this.
    mutating func willRetry(_ id: String, at now: TimerInstant) -> (inout Self) -> Void {
        let (stay, count) = (stays[id], deadLetters[id])
        stays[id] = Stay(beganAt: now, offsets: [clockOffset], wasTakenBack: true)
        deadLetters[id, default: 1] -= 1
        return { book in
            book.stays[id] = stay
            book.deadLetters[id] = count
        }
    }

    mutating func purges(_ id: String) { purged.insert(id) }

    /// Notes the error of the wall clock.
    mutating func setClock(off offset: Duration) {
        clockOffset = offset
        for id in stays.keys {
            let believable = (stays[id]?.offsets ?? []).map { offset - $0 }.filter { .zero...Self.longestAge ~= $0 }
            stays[id]?.clockSlack += believable.max() ?? .zero
            stays[id]?.offsets.append(offset)
        }
    }

    // MARK: Requests to the server

    mutating func answered(_ id: String, _ answer: FakeServer.Answer) { answers[id] = answer }

    // MARK: Events of the outbox

    mutating func hear(_ event: ReportEvent, at now: TimerInstant, _ disk: MemoryDirectory) {
        switch event {
        case .accepted(let id):
            // Among the reports that may have been dropped, the one in the outbox was; otherwise the submission would have joined
            // it.
            settleDrops(id.rawValue, isStillHeld: false)
            if stays[id.rawValue]?.isHeld == true { faults.append("\(id) was accepted, although it was in the outbox") }
            stays[id.rawValue] = Stay(beganAt: now, offsets: [clockOffset])
            purged.remove(id.rawValue)
        case .found(let id, _):
            if stays[id.rawValue] == nil {
                // The submission was rejected, or ended without a result: for the app, it began when the app called it.
                // Nothing was promised, and the wall clock at that time is unknown.
                stays[id.rawValue] = Stay(
                    beganAt: TimerInstant(nanoseconds: 0), clockSlack: Self.longestAge, offsets: [clockOffset],
                    isPromised: false)
            }
            if let stay = stays[id.rawValue], !stay.isHeld, !stay.mayHaveLeft, disk.failedPaths.isEmpty {
                faults.append("\(id) was found, although it had left")
            }
            stays[id.rawValue]?.isHeld = true
            stays[id.rawValue]?.mayHaveLeft = false
        case .joined(let id):
            if stays[id.rawValue]?.isHeld != true { faults.append("\(id) joined nothing") }
        case .sending(let id, _): stays[id.rawValue]?.attempts += 1
        case .willRetry(let id, _, let cause): check(cause, of: id.rawValue)
        case .delivered(let id, let status):
            end(id.rawValue, event)
            if answers[id.rawValue]?.status != status { faults.append("\(event) does not match the answer") }
        case .deadLettered(let id, .duplicate):
            // It was a duplicate, and the other report is still in the outbox.
            if disk.failedPaths.isEmpty { faults.append("\(event) without a cause") }
            deadLetters[id.rawValue, default: 0] += 1
        case .deadLettered(let id, let loss):
            check(loss, of: id.rawValue, at: now, disk)
            end(id.rawValue, event)
            deadLetters[id.rawValue, default: 0] += 1
        case .dropped(let id, let loss):
            check(loss, of: id.rawValue, at: now, disk)
            endDropped(id.rawValue, event, loss)
        case .foreignFiles: faults.append("\(event)")
        case .trouble: if disk.failedPaths.isEmpty, hurt.isEmpty { faults.append("\(event) without a cause") }
        }
    }

    /// Notes that a report has left the outbox.
    private mutating func end(_ id: String, _ event: ReportEvent) {
        if stays[id]?.isHeld != true { faults.append("\(event) concerns a report that was not in the outbox") }
        stays[id]?.isHeld = false
    }

    private mutating func endDropped(_ id: String, _ event: ReportEvent, _ loss: ReportLoss) {
        let count = deadLetters[id] ?? 0
        // Dead letters are removed only for these reasons.
        guard count > 0, [.purged, .noRoom, .withoutConsent].contains(loss) else { return end(id, event) }
        guard let stay = stays[id], stay.isHeld else {
            deadLetters[id] = count - 1
            return
        }
        stays[id]?.unsureDrops += 1
        // All reports with that identifier have left.
        if stay.unsureDrops == count { settleDrops(id, isStillHeld: false) }
    }

    /// Resolves which of the reports that may have been dropped it was.
    private mutating func settleDrops(_ id: String, isStillHeld: Bool) {
        guard let drops = stays[id]?.unsureDrops, drops > 0 else { return }
        stays[id]?.unsureDrops = 0
        stays[id]?.isHeld = isStillHeld
        deadLetters[id, default: 0] -= isStillHeld ? drops : drops - 1
    }

    private mutating func check(_ cause: RetryCause, of id: String) {
        switch (cause, answers[id]) {
        case (.status(let status), .status(let answered, _)) where status == answered: break
        case (.error(let code), .failure(let answered)) where code == answered: break
        case (.error(.timedOut), .silence), (.error(.connectionLost), .cut): break
        case (.error(.cancelled), .silence): break
        // Its bytes could not be read, either by the outbox or by the terminal.
        case (.error(.unknown), _), (.error(.connectionLost), _), (.error(.invalidRequest), _): break
        default: faults.append("\(id) is retried because of \(cause), but the answer was \(answers[id] as Any)")
        }
    }

    private mutating func check(_ loss: ReportLoss, of id: String, at now: TimerInstant, _ disk: MemoryDirectory) {
        losses[loss.name, default: 0] += 1
        let stay = stays[id]
        let isRight: Bool
        switch loss {
        case .refused(let status): isRight = answers[id]?.status == status
        case .failed(let code):
            if case .failure(code)? = answers[id] { isRight = true } else { isRight = false }
        case .expired:
            let age = (stay?.beganAt.duration(to: now) ?? .zero) + (stay?.clockSlack ?? .zero)
            isRight = age >= maximumAge
        case .tooManyAttempts: isRight = (stay?.attempts ?? 0) >= maximumAttempts
        case .noRoom:
            let held = stays.values.count { $0.isHeld }
            let deadLetters = disk.names.count { $0.hasPrefix("aside/") }
            isRight = capacityOfOldest.map { held > $0 } ?? false || deadLetters >= maximumDeadLetter
        case .byHandler: isRight = droppedByHandler.contains(id)
        case .purged: isRight = purged.contains(id)
        case .withoutConsent: isRight = wasConsentDenied
        case .damaged, .sealed, .missingFile: isRight = hurt.contains(id)
        case .duplicate: isRight = false
        }
        if !isRight { faults.append("\(id) was lost, but not because of \(loss)") }
    }

    /// Whether a report may have disappeared without an event.
    func mayHaveLeft(_ id: String) -> Bool { stays[id]?.mayHaveLeft ?? false }

    // MARK: Between events

    /// Records the dead letters at the start of a process, because the previous one may have ended before it could report them.
    mutating func noteDeadLetter(_ names: [String]) {
        deadLetters = [:]
        for name in names where name.hasPrefix("aside/") {
            guard let deadLetter = DeadLetterName.read(String(name.dropFirst(6)))?.deadLetter else { continue }
            let id = deadLetter.name.id.rawValue
            deadLetters[id, default: 0] += 1
            // The power failed before the return was on disk, so it is a dead letter again.
            if stays[id]?.wasTakenBack == true, !names.contains(where: { $0.hasSuffix("-\(id).report") }) {
                stays[id]?.isHeld = false
            }
        }
    }

    /// Compares the reports of the outbox with those that it must have.
    mutating func compare(held: Set<String>) {
        for id in stays.keys { settleDrops(id, isStillHeld: held.contains(id)) }
        let expected = Set(stays.filter(\.value.isHeld).keys)
        for id in expected.subtracting(held) { faults.append("\(id) disappeared without an event") }
        for id in held.subtracting(expected) { faults.append("\(id) is in the outbox, although it had left") }
    }

    /// Notes that a process has ended, and that another may find its reports.
    ///
    /// - Parameters:
    ///   - unheard: returns whether a report may have left just before the end without an event.
    ///   - losesNames: whether names that were not synced to disk are lost because syncing failed.
    mutating func died(losesNames: Bool, unheard: (String) -> Bool) {
        for id in stays.keys {
            // An attempt may be counted without an event.
            stays[id]?.attempts += 1
            let isLost = losesNames && stays[id]?.isPromised == false
            guard stays[id]?.isHeld == true, isLost || unheard(id) || vanished.contains(id) else { continue }
            stays[id]?.isHeld = false
            stays[id]?.mayHaveLeft = true
        }
    }
}
