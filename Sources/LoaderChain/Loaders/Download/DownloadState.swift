// Loaders/Download: files that are downloaded in as many parts as it takes. DownloadState decides, PartFile keeps what has arrived,
// and DownloadRun asks the chain. They use AsyncLoader, and no other loader.

import LoaderChainPlatformFoundation

/// A download of one file: the bytes that are there, the next question, and what to do with a response.
///
/// The state has no clock and no disk. The rule is that the part file has the first ``count`` bytes of ``version``, and nothing
/// else is ever added to them.
struct DownloadState: Sendable {
    enum Question: Hashable, Sendable {
        case whole
        /// The bytes from a place on, if the file is still the same.
        case rest(from: Int64, validator: String)
    }

    enum Answer: Hashable, Sendable {
        /// Its body is the file from the beginning, of a version that may be new.
        case begins
        /// Its body is a later part of the file, after this number of bytes.
        case goesOn(after: Int64)
        /// The part does not fit; the whole file has to be asked for.
        case doesNotFit
        /// The server asks to come again later.
        case isBusy
        /// The response has no part of the file, and is the response of the download.
        case isNoFile
        /// The response must not be used, for this reason.
        case isWrong(String)
    }

    enum Ending: Hashable, Sendable {
        case complete
        /// The server has sent a part of what was asked for, and that part is whole.
        case more
        /// The body ended too early.
        case cut
    }

    /// The version that the part file has bytes of; nil if there are none.
    private(set) var version: DownloadVersion?
    private(set) var count: Int64 = 0

    private var perseverance: Perseverance
    /// The end of the body that is being received; nil if only its last byte shows it.
    private var end: Int64?
    /// Whether that body is the file from the beginning to the end.
    private var isWhole = false
    /// Whether the bytes have come in more than one response.
    private var hasParts = false
    /// False once the server has sent a part that does not fit.
    private var trustsParts = true

    init(_ settings: ResumableDownload.Settings) {
        perseverance = Perseverance(
            maximumFailures: settings.maximumFailures,
            pacing: Pacing(
                first: settings.firstDelay, maximum: settings.maximumDelay, maximumAsked: settings.maximumRetryAfter))
    }

    /// Goes on with the part file of an earlier process: it has `length` bytes, of which `kept` were flushed to the disk.
    mutating func restore(_ version: DownloadVersion, kept: Int64, length: Int64) {
        let count = min(kept, length)
        guard count > 0, version.validator != nil, version.length.map({ count <= $0 }) ?? true else { return }
        (self.version, self.count, hasParts) = (version, count, true)
        perseverance.begin(at: count)
    }

    var isResumable: Bool { version?.validator != nil && count > 0 }

    var question: Question {
        guard trustsParts, count > 0, let version, let validator = version.validator else { return .whole }
        // A range must begin before the end of the file. So if that may be reached, the last byte is asked for once more, and its
        // response proves the version.
        let mayBeComplete = version.length.map { count >= $0 } ?? true
        return .rest(from: mayBeComplete ? count - 1 : count, validator: validator)
    }

    mutating func take(_ head: HTTPResponse, to question: Question, now: Date) -> Answer {
        switch (head.status, question) {
        case (.partialContent, .whole):
            return .isWrong("The server has sent a part of the file, although the whole was asked for")
        case (.partialContent, .rest(let first, _)):
            guard let range = fittingRange(head, from: first) else {
                trustsParts = false
                return .doesNotFit
            }
            if version?.length == nil { version?.length = range.total }
            let before = count
            (count, end, isWhole, hasParts) = (first, range.last + 1, false, true)
            return .goesOn(after: before)
        case (.rangeNotSatisfiable, .rest):
            // The file is shorter than the part file, so it is another file.
            trustsParts = false
            return .doesNotFit
        case (let status, _) where status == .ok || status.rawValue == 203:
            let new = DownloadVersion(head, now: now)
            (version, count, end, isWhole, hasParts) = (new, 0, new.length, true, false)
            return .begins
        case (let status, _) where status.isTransient:
            return .isBusy
        default:
            return .isNoFile
        }
    }

    private func fittingRange(_ head: HTTPResponse, from first: Int64) -> ContentRange? {
        guard let version, let range = ContentRange(head.headers), range.first == first else { return nil }
        guard !DownloadVersion.isEncoded(head), version.agrees(with: head) else { return nil }
        if let length = version.length {
            guard range.last < length, range.total.map({ $0 == length }) ?? true else { return nil }
        }
        let size = range.last - range.first + 1
        guard !head.headers.contains("Content-Length") || ContentRange.length(head.headers) == size else { return nil }
        return range
    }

    /// Whether this number of bytes still belongs to the file; if not, the server has announced something else.
    func accepts(_ bytes: Int) -> Bool {
        let (sum, isTooLarge) = count.addingReportingOverflow(Int64(bytes))
        return !isTooLarge && end.map { sum <= $0 } ?? true
    }

    mutating func noteWritten(_ bytes: Int) { count += Int64(bytes) }

    mutating func takeEnd() -> Ending {
        if let end, count < end { return .cut }
        if isWhole {
            version?.length = count
            return .complete
        }
        return version?.length == count ? .complete : .more
    }

    /// Notes that a response has not completed the file; returns the delay before the next attempt, or nil to give up.
    ///
    /// `asked` is the delay that the server asks for, and `roll` a random number, from 0 up to 1.
    mutating func takeFailure(asked: Duration, roll: Double) -> Duration? {
        perseverance.takeFailure(at: count, asked: asked, roll: roll)
    }

    /// Notes that a part has ended, and the next has to be asked for; false to give up, because the parts bring no new bytes.
    mutating func takePart() -> Bool { perseverance.takeStep(at: count) }

    /// Notes that the part file differs from the server's file; returns whether to ask for the whole again: only if it came in parts.
    mutating func takeWrongChecksum() -> Bool {
        let cameInParts = hasParts
        (version, count, trustsParts, hasParts) = (nil, 0, false, false)
        return cameInParts
    }
}
