// Uploads: bodies that are sent in as many parts as it takes, by a draft of a standard. DraftUploadState decides, and
// ResumableUploadDraft12 asks the chain.

import LoaderChainPlatformFoundation

/// An upload by draft-ietf-httpbis-resumable-upload-12: what the server has, and what to send it.
///
/// It has no clock and no body.
struct DraftUploadState: Sendable {
    /// What to ask the server for.
    enum Question: Hashable, Sendable {
        /// A place to upload to.
        case create
        /// How much is there.
        case ask
        /// To take so many bytes from an offset on, which may be the last ones.
        case append(from: Int64, count: Int64, isLast: Bool)
    }

    /// What a response means.
    enum Answer: Hashable, Sendable {
        /// There is more to ask.
        case goesOn
        /// The server had to be asked again without having got more.
        case failed
        /// It is the response of the whole upload, be it a success or not.
        case ends
        /// The upload cannot go on, for the reason.
        case isWrong(String)
    }

    /// Where to upload to; nil before the server has said so.
    private(set) var location: URL?
    /// How many bytes the server has.
    private(set) var offset: Int64 = 0

    private let length: Int64
    private var perseverance: Perseverance
    private var mustAsk: Bool
    private var mayCreateAgain: Bool
    private var mostAtOnce = Int64.max

    init(_ settings: ResumableUploadDraft12.Settings, length: Int64) {
        self.length = length
        perseverance = Perseverance(
            attempts: settings.attempts,
            pacing: Pacing(
                first: settings.firstDelay, maximum: settings.maximumDelay, maximumAsked: settings.maximumRetryAfter))
        location = settings.location
        (mustAsk, mayCreateAgain) = (settings.location != nil, settings.location != nil)
    }

    var question: Question {
        if location == nil { return .create }
        if mustAsk { return .ask }
        let count = min(mostAtOnce, length - offset)
        return .append(from: offset, count: count, isLast: offset + count == length)
    }

    /// Takes a response.
    ///
    /// - Parameter target: the address of its `Location`, if it has one.
    mutating func take(_ response: HTTPResponse, to question: Question, target: URL?) -> Answer {
        let fields = DraftUploadFields(response.headers)
        if let limit = fields.mostAtOnce, limit > 0 { mostAtOnce = limit }
        if !response.status.isTransient, let limit = fields.mostBytes, limit < length {
            return .isWrong("The server takes at most \(limit) bytes, and the body has \(length)")
        }
        return switch question {
        case .create: takeCreation(response, target)
        case .ask: takeOffset(response, fields)
        case .append(let first, let count, _): takeAppend(response, fields, first + count)
        }
    }

    private mutating func takeCreation(_ response: HTTPResponse, _ target: URL?) -> Answer {
        if response.status.isTransient { return .failed }
        guard response.status.isSuccess else { return .ends }
        guard let target else {
            return .isWrong("The server names no place to upload to, so it does not support this draft")
        }
        location = target
        return .goesOn
    }

    private mutating func takeOffset(_ response: HTTPResponse, _ fields: DraftUploadFields) -> Answer {
        if Self.isBusy(response.status) { return .failed }
        guard response.status.isSuccess else {
            // What an earlier process has begun may have expired.
            guard mayCreateAgain, response.status == .notFound || response.status == .gone else { return .ends }
            (location, mustAsk, mayCreateAgain, offset) = (nil, false, false, 0)
            return .goesOn
        }
        if fields.isComplete == true { return .ends }
        guard let there = fields.offset, there <= length, fields.length.map({ $0 == length }) ?? true else {
            return .isWrong("What the server has of the upload does not fit the body")
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
        switch StatusMeaning(status) {
        case .unavailable, .overloaded: true
        default: false
        }
    }

    /// Notes that a question has not brought the upload further.
    ///
    /// - Parameters:
    ///   - asked: how long the server asks to wait.
    ///   - roll: chance, from 0 up to 1.
    /// - Returns: how long to wait before the next one; nil to give up.
    mutating func takeFailure(asked: Duration, roll: Double) -> Duration? {
        perseverance.takeFailure(at: offset, asked: asked, roll: roll)
    }

    /// Notes that there was no response, so that the server may have any part of what was sent.
    mutating func takeLoss() { if location != nil { mustAsk = true } }
}

/// The header fields of the draft, each as the structured field that it is; one with another value is ignored.
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

    private static func number(_ text: String) -> Int64? {
        // A structured integer has fifteen digits at most.
        guard (1...15).contains(text.utf8.count), text.utf8.allSatisfy(ASCII.isDigit) else { return nil }
        return Int64(text)
    }
}
