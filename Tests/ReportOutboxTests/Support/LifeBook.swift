import DurableFilesTesting
import LoaderChain

@testable import ReportOutbox

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What must be true of a box over all its lives, by what the app did, what the server saw and what the box said.
///
/// It knows nothing of how a box works. Every report that is accepted is delivered, still held, or told as lost, once and for a
/// reason that holds: a refusal that the server spoke, an age that has passed, a bit that was turned over.
struct LifeBook {
    /// A report of an identifier, from the moment when the box takes it in until it is told what became of it.
    private struct Stay {
        /// Whether the box has it.
        var isHeld = true
        /// How many were told to be dropped, of which one may be this and the others were set aside before.
        var unsureDrops = 0
        /// Whether a process ended before it could say that it left.
        var mayHaveLeft = false
        var beganAt: TimerInstant
        /// How much older than it is the clock's changes may have made it look.
        var clockSlack = Duration.zero
        var offsets: [Duration]
        /// Whether it was set aside before, and was taken back.
        var wasTakenBack = false
        /// Whether the app was told that it is in the box; another process may have found it all the same.
        var isPromised = true
        /// How many attempts may have been counted.
        var attempts = 0
    }

    let maximumAge: Duration
    let maximumAttempts: Int
    /// How many reports a box holds that drops the oldest; nil for one that refuses new ones.
    let roomForOldest: Int?
    let maximumSetAside: Int

    private var stays: [String: Stay] = [:]
    private var setAside: [String: Int] = [:]
    private var answers: [String: FakeServer.Answer] = [:]
    private var clockOffset = Duration.zero
    /// What the app did not want any more.
    private var purged: Set<String> = []
    /// What the handler of existing reports may have dropped.
    var droppedByHandler: Set<String> = []
    /// Whether the user has ever said no.
    var wasConsentDenied = false
    /// Reports of whose files a bit was turned over, or which were removed.
    var hurt: Set<String> = []
    /// Those of them that were removed, which no box can know of that finds none.
    var vanished: Set<String> = []
    private(set) var faults: [String] = []
    private(set) var losses: [String: Int] = [:]

    /// The longest age that a box takes for one; what seems older has met a wrong clock.
    private static let longestAge = Duration.seconds(60 * 24 * 3600)

    init(_ settings: OutboxSettings) {
        maximumAge = settings.maximumAge
        maximumAttempts = settings.maximumAttempts
        roomForOldest = settings.whenFull == .dropOldest ? settings.maximumCount : nil
        maximumSetAside = settings.maximumSetAsideCount
    }

    // MARK: What the app does

    /// Notes that a report that was set aside is taken back; returns what undoes that.
    mutating func willRetry(_ id: String, at now: TimerInstant) -> (inout Self) -> Void {
        let (stay, count) = (stays[id], setAside[id])
        stays[id] = Stay(beganAt: now, offsets: [clockOffset], wasTakenBack: true)
        setAside[id, default: 1] -= 1
        return { book in
            book.stays[id] = stay
            book.setAside[id] = count
        }
    }

    mutating func purges(_ id: String) { purged.insert(id) }

    /// Notes what the wall clock shows beside the right time.
    mutating func setClock(off offset: Duration) {
        clockOffset = offset
        for id in stays.keys {
            let believable = (stays[id]?.offsets ?? []).map { offset - $0 }.filter { .zero...Self.longestAge ~= $0 }
            stays[id]?.clockSlack += believable.max() ?? .zero
            stays[id]?.offsets.append(offset)
        }
    }

    // MARK: What the server sees

    mutating func answered(_ id: String, _ answer: FakeServer.Answer) { answers[id] = answer }

    // MARK: What the box says

    mutating func hear(_ event: ReportEvent, at now: TimerInstant, _ disk: MemoryDirectory) {
        switch event {
        case .accepted(let id):
            // Of those that may have been dropped, the one in the box was: it would have been joined.
            settleDrops(id.rawValue, isStillHeld: false)
            if stays[id.rawValue]?.isHeld == true { faults.append("\(id) was accepted and was in the box") }
            stays[id.rawValue] = Stay(beganAt: now, offsets: [clockOffset])
            purged.remove(id.rawValue)
        case .found(let id, _):
            if stays[id.rawValue] == nil {
                // Its submission was refused, or not told of: it began, as far as the app knows, when it wanted it.
                // Nothing was promised, and what the clock showed then is not known.
                stays[id.rawValue] = Stay(
                    beganAt: TimerInstant(nanoseconds: 0), clockSlack: Self.longestAge, offsets: [clockOffset],
                    isPromised: false)
            }
            if let stay = stays[id.rawValue], !stay.isHeld, !stay.mayHaveLeft, disk.failedPaths.isEmpty {
                faults.append("\(id) was found, and had left")
            }
            stays[id.rawValue]?.isHeld = true
            stays[id.rawValue]?.mayHaveLeft = false
        case .joined(let id):
            if stays[id.rawValue]?.isHeld != true { faults.append("\(id) joined nothing") }
        case .sending(let id, _): stays[id.rawValue]?.attempts += 1
        case .willRetry(let id, _, let cause): check(cause, of: id.rawValue)
        case .delivered(let id, let status):
            end(id.rawValue, event)
            if answers[id.rawValue]?.status != status { faults.append("\(event) is not what was answered") }
        case .setAside(let id, .duplicate):
            // It was one too many, and the other is still here.
            if disk.failedPaths.isEmpty { faults.append("\(event) without a cause") }
            setAside[id.rawValue, default: 0] += 1
        case .setAside(let id, let loss):
            check(loss, of: id.rawValue, at: now, disk)
            end(id.rawValue, event)
            setAside[id.rawValue, default: 0] += 1
        case .dropped(let id, let loss):
            check(loss, of: id.rawValue, at: now, disk)
            endDropped(id.rawValue, event, loss)
        case .foreignFiles: faults.append("\(event)")
        case .trouble: if disk.failedPaths.isEmpty, hurt.isEmpty { faults.append("\(event) without a cause") }
        }
    }

    /// Notes that a report has left the box.
    private mutating func end(_ id: String, _ event: ReportEvent) {
        if stays[id]?.isHeld != true { faults.append("\(event) was told of one that the box had not") }
        stays[id]?.isHeld = false
    }

    private mutating func endDropped(_ id: String, _ event: ReportEvent, _ loss: ReportLoss) {
        let count = setAside[id] ?? 0
        // What is set aside goes for these reasons alone.
        guard count > 0, [.purged, .noRoom, .withoutConsent].contains(loss) else { return end(id, event) }
        guard let stay = stays[id], stay.isHeld else {
            setAside[id] = count - 1
            return
        }
        stays[id]?.unsureDrops += 1
        // Every one of that identifier has gone.
        if stay.unsureDrops == count { settleDrops(id, isStillHeld: false) }
    }

    /// Notes which of those that were told to be dropped it was, now that this is known.
    private mutating func settleDrops(_ id: String, isStillHeld: Bool) {
        guard let drops = stays[id]?.unsureDrops, drops > 0 else { return }
        stays[id]?.unsureDrops = 0
        stays[id]?.isHeld = isStillHeld
        setAside[id, default: 0] -= isStillHeld ? drops : drops - 1
    }

    private mutating func check(_ cause: RetryCause, of id: String) {
        switch (cause, answers[id]) {
        case (.status(let status), .status(let answered, _)) where status == answered: break
        case (.error(let code), .failure(let answered)) where code == answered: break
        case (.error(.timedOut), .silence), (.error(.connectionLost), .cut): break
        case (.error(.cancelled), .silence): break
        // Its bytes could not be read: by the box, or by what was to send them.
        case (.error(.unknown), _), (.error(.connectionLost), _), (.error(.invalidRequest), _): break
        default: faults.append("\(id) is tried again because of \(cause), and was answered \(answers[id] as Any)")
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
            let aside = disk.names.count { $0.hasPrefix("aside/") }
            isRight = roomForOldest.map { held > $0 } ?? false || aside >= maximumSetAside
        case .byHandler: isRight = droppedByHandler.contains(id)
        case .purged: isRight = purged.contains(id)
        case .withoutConsent: isRight = wasConsentDenied
        case .damaged, .sealed, .missingFile: isRight = hurt.contains(id)
        case .duplicate: isRight = false
        }
        if !isRight { faults.append("\(id) was lost, and not because of \(loss)") }
    }

    /// Whether a report may be gone without the app having heard of it.
    func mayHaveLeft(_ id: String) -> Bool { stays[id]?.mayHaveLeft ?? false }

    // MARK: Between events

    /// Notes what is set aside when a process begins, since the one before may have ended before it could say so.
    mutating func noteSetAside(_ names: [String]) {
        setAside = [:]
        for name in names where name.hasPrefix("aside/") {
            guard let aside = AsideName.read(String(name.dropFirst(6)))?.aside else { continue }
            let id = aside.name.id.rawValue
            setAside[id, default: 0] += 1
            // The power failed before its way back was on the disk, so it is set aside as before.
            if stays[id]?.wasTakenBack == true, !names.contains(where: { $0.hasSuffix("-\(id).report") }) {
                stays[id]?.isHeld = false
            }
        }
    }

    /// Compares what the box says it has with what it must have.
    mutating func compare(held: Set<String>) {
        for id in stays.keys { settleDrops(id, isStillHeld: held.contains(id)) }
        let expected = Set(stays.filter(\.value.isHeld).keys)
        for id in expected.subtracting(held) { faults.append("\(id) is gone, and the box has not said so") }
        for id in held.subtracting(expected) { faults.append("\(id) is in the box, and has left it") }
    }

    /// Notes that a process has ended, and that another may find what it left.
    ///
    /// - Parameters:
    ///   - unheard: tells of reports that left so shortly before that nothing was heard of it.
    ///   - losesNames: whether the names that were not flushed to the disk are lost, because that failed.
    mutating func died(losesNames: Bool, unheard: (String) -> Bool) {
        for id in stays.keys {
            // An attempt may have been counted, and not be told.
            stays[id]?.attempts += 1
            let isLost = losesNames && stays[id]?.isPromised == false
            guard stays[id]?.isHeld == true, isLost || unheard(id) || vanished.contains(id) else { continue }
            stays[id]?.isHeld = false
            stays[id]?.mayHaveLeft = true
        }
    }
}
