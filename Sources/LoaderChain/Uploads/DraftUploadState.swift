// Uploads: bodies that are sent in as many parts as it takes, by a draft of a standard. DraftUploadState decides, and
// ResumableUploadDraft12 asks the chain.

import LoaderChainPlatformFoundation

/// An upload by draft-ietf-httpbis-resumable-upload-12: what the server has, and what to send it, without a clock and a body.
struct DraftUploadState: Sendable {
    enum Question: Hashable, Sendable {
        /// An upload URL.
        case create
        /// The number of bytes that are there.
        case ask(at: URL)
        /// To take `count` bytes from an offset on, which may be the last ones.
        case append(at: URL, from: Int64, count: Int64, isLast: Bool)
    }

    enum Answer: Hashable, Sendable {
        case goesOn
        /// The server had to be asked again without new bytes.
        case failed
        /// The response ends the whole upload, with a success or not.
        case ends
        /// The upload cannot continue, for this reason.
        case isWrong(String)
    }

    /// The upload URL; nil before the server has sent it.
    private(set) var location: URL?
    /// The number of bytes that the server has.
    private(set) var offset: Int64 = 0

    private let length: Int64
    private var perseverance: Perseverance
    private var mustAsk: Bool
    private var mayCreateAgain: Bool
    private var mostAtOnce = Int64.max

    init(_ settings: ResumableUploadDraft12.Settings, length: Int64) {
        self.length = length
        perseverance = Perseverance(
            maximumFailures: settings.maximumFailures,
            pacing: Pacing(
                first: settings.firstDelay, maximum: settings.maximumDelay, maximumAsked: settings.maximumRetryAfter))
        location = settings.location
        (mustAsk, mayCreateAgain) = (settings.location != nil, settings.location != nil)
    }

    var question: Question {
        guard let location else { return .create }
        if mustAsk { return .ask(at: location) }
        let count = min(mostAtOnce, length - offset)
        return .append(at: location, from: offset, count: count, isLast: offset + count == length)
    }

    /// Takes a response; `target` is the address of its `Location`, if it has one.
    mutating func take(_ response: HTTPResponse, to question: Question, target: URL?) -> Answer {
        let fields = DraftUploadFields(response.headers)
        if let limit = fields.mostAtOnce, limit > 0 { mostAtOnce = limit }
        if !response.status.isTransient, let limit = fields.mostBytes, limit < length {
            return .isWrong("The server takes at most \(limit) bytes, and the body has \(length)")
        }
        return switch question {
        case .create: takeCreation(response, target)
        case .ask: takeOffset(response, fields)
        case .append(_, let first, let count, _): takeAppend(response, fields, first + count)
        }
    }

    private mutating func takeCreation(_ response: HTTPResponse, _ target: URL?) -> Answer {
        if response.status.isTransient { return .failed }
        guard response.status.isSuccess else { return .ends }
        guard let target else {
            return .isWrong("The server returned no upload URL, so it does not support this draft")
        }
        location = target
        return .goesOn
    }

    private mutating func takeOffset(_ response: HTTPResponse, _ fields: DraftUploadFields) -> Answer {
        if Self.isBusy(response.status) { return .failed }
        guard response.status.isSuccess else {
            // An upload that an earlier process has begun may have expired.
            guard mayCreateAgain, response.status == .notFound || response.status == .gone else { return .ends }
            (location, mustAsk, mayCreateAgain, offset) = (nil, false, false, 0)
            return .goesOn
        }
        if fields.isComplete == true { return .ends }
        guard let there = fields.offset, there <= length, fields.length.map({ $0 == length }) ?? true else {
            return .isWrong("The bytes that the server has do not match the body")
        }
        (offset, mustAsk, mayCreateAgain) = (there, false, false)
        return .goesOn
    }

    private mutating func takeAppend(_ response: HTTPResponse, _ fields: DraftUploadFields, _ end: Int64) -> Answer {
        if fields.isComplete == true { return .ends }
        if response.status == .conflict, let there = fields.offset, there <= length {
            offset = there
            return .failed
        }
        if Self.isBusy(response.status) {
            mustAsk = true
            return .failed
        }
        guard response.status.isSuccess else { return .ends }
        // If it was the last part, the server should have said that it is complete.
        guard end < length else {
            mustAsk = true
            return .failed
        }
        offset = end
        return .goesOn
    }

    /// Whether the server may take the same a moment later, as when it is overloaded, or another request holds the upload (423).
    private static func isBusy(_ status: HTTPStatus) -> Bool {
        let meaning = StatusMeaning(status)
        return meaning == .unavailable || meaning == .overloaded
    }

    /// Notes that a question has brought no new bytes; returns the delay before the next question, or nil to give up.
    ///
    /// `asked` is the delay that the server asks for, and `roll` a random number, from 0 up to 1.
    mutating func takeFailure(asked: Duration, roll: Double) -> Duration? {
        perseverance.takeFailure(at: offset, asked: asked, roll: roll)
    }

    /// Notes that there was no response, so that the server may have any part of what was sent.
    mutating func takeLoss() { if location != nil { mustAsk = true } }
}

/// The header fields of the draft, as structured fields; fields with another type of value are ignored.
private struct DraftUploadFields {
    let offset: Int64?
    let length: Int64?
    let isComplete: Bool?
    /// The most bytes of the whole, and of one request.
    let mostBytes, mostAtOnce: Int64?

    init(_ headers: HTTPHeaders) {
        func item(_ name: String) -> String? {
            let values = headers.values(for: name)
            guard values.count == 1, let value = values.first else { return nil }
            // Parameters may follow, which say nothing here.
            let bare = value.utf8.prefix { $0 != UInt8(ascii: ";") }
            return String(decoding: ASCII.trimmed(bare), as: UTF8.self)
        }
        offset = item("Upload-Offset").flatMap(Self.number)
        length = item("Upload-Length").flatMap(Self.number)
        isComplete = item("Upload-Complete").flatMap { ["?1": true, "?0": false][$0] }
        var limits: [String: Int64] = [:]
        for member in headers.list(for: "Upload-Limit") {
            let parts = member.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { continue }
            limits[String(parts[0])] = Self.number(String(parts[1].prefix { $0 != ";" }))
        }
        (mostBytes, mostAtOnce) = (limits["max-size"], limits["max-append-size"])
    }

    /// A structured integer, which has fifteen digits at most.
    private static func number(_ text: String) -> Int64? { ASCII.number(text.utf8, digits: 1...15) }
}
