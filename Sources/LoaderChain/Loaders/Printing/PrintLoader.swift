import LoaderChainPlatformFoundation

#if canImport(os)
    import os
#endif

/// Prints the requests that go down the chain and the results that come back.
///
/// Put it where you want to look: at the head it shows what the app requests, before the terminal what is sent.
///
/// ```swift
/// let chain = retry --> PrintLoader(bodyLimit: 1_000) --> terminal
/// ```
///
///     → #7 POST https://example.com/v1/users?token=redacted
///         Accept: application/json
///         Authorization: <redacted>
///         {"name":"Ada"}
///     ← #7 201 Created after 12.3 ms, 34 bytes
///         Content-Type: application/json
///         {"name":"Ada","id":1}
///
/// Secret headers and the values of the query are redacted, and characters that would break a line are escaped. Bodies
/// are shown only if you ask for them, up to a limit, and never if the request has ``HTTPRequest/hidesBodies``. The
/// number is the task's, which connects its lines, also those of another such loader. A request is always printed
/// before its result.
public final class PrintLoader: HTTPLoader, @unchecked Sendable {
    private let texts: PrintedTexts
    private let timers: any Timers
    private let output: @Sendable (String) -> Void

    /// Makes a loader that prints.
    ///
    /// - Parameters:
    ///   - showsHeaders: whether header fields are printed.
    ///   - bodyLimit: the maximum number of bytes of a body to print; 0 for none. A request's body is encoded once more for it.
    ///   - timers: the clock.
    ///   - output: receives each text, of one or more lines, on any thread.
    public init(
        showsHeaders: Bool = true, bodyLimit: Int = 0, timers: any Timers = SystemTimers.shared,
        output: @escaping @Sendable (String) -> Void = { print($0) }
    ) {
        texts = PrintedTexts(showsHeaders: showsHeaders, bodyLimit: bodyLimit)
        self.timers = timers
        self.output = output
    }

    #if canImport(os)
        /// Makes a loader that writes to the system's log.
        ///
        /// What it writes is public, because the loader has redacted the secrets.
        ///
        /// - Parameters:
        ///   - logger: the logger, with the subsystem and the category.
        ///   - level: the level of all messages.
        ///   - showsHeaders: whether header fields are logged.
        ///   - bodyLimit: the maximum number of bytes of a body to log; 0 for none.
        public convenience init(
            _ logger: Logger, level: OSLogType = .debug, showsHeaders: Bool = true, bodyLimit: Int = 0
        ) {
            self.init(showsHeaders: showsHeaders, bodyLimit: bodyLimit) { text in
                logger.log(level: level, "\(text, privacy: .public)")
            }
        }
    #endif

    public override func load(task: HTTPTask) {
        let number = task.number
        let request = task.request
        let hidesBodies = request.hidesBodies
        output(texts.text(of: request, number))
        let start = timers.now
        // Without this loader, which holds those below: one of them may keep the task, and end only with its last reference.
        task.addCompletionHandler { [texts, timers, output] result in
            output(texts.text(of: result, number, after: start.duration(to: timers.now), hidingBody: hidesBodies))
        }
        super.load(task: task)
    }
}

private struct PrintedTexts {
    let showsHeaders: Bool
    let bodyLimit: Int

    func text(of request: HTTPRequest, _ number: UInt64) -> String {
        var headers = request.headers
        headers.merge(filling: request.body.additionalHeaders)
        let first = "→ #\(number) \(request.method) \(request.loggableURL)"
        let isHidden = request.hidesBodies && !request.body.isEmpty
        return lines(first, headers, isHidden ? .hidden : PrintedBody(request.body, limit: bodyLimit))
    }

    func text(
        of result: HTTPResult, _ number: UInt64, after duration: Duration, hidingBody hidesBody: Bool
    ) -> String {
        switch result {
        case .success(let response):
            let size = response.body.count
            let first = "← #\(number) \(response.status) after \(duration.inMilliseconds), \(size) bytes"
            let isHidden = hidesBody && !response.body.isEmpty
            return lines(first, response.headers, isHidden ? .hidden : PrintedBody(response.body, limit: bodyLimit))
        case .failure(let error):
            return "← #\(number) failed after \(duration.inMilliseconds). " + ASCII.printable("\(error)")
        }
    }

    private func lines(_ first: String, _ headers: HTTPHeaders, _ body: PrintedBody) -> String {
        let shown = (showsHeaders ? headers.map(\.description) : []) + (bodyLimit > 0 ? body.lines : [])
        return ([first] + shown).joined(separator: "\n    ")
    }
}

/// Whether the bodies of a request and its response are hidden from logs; false by default.
package enum HiddenBodiesOption: HTTPRequestOption {
    package static var defaultOptionValue: Bool { false }
}

extension HTTPRequest {
    /// Whether the bodies of the request and its response contain secrets, so that a ``PrintLoader`` hides them.
    ///
    /// Set it for a request that signs a user in. ``RefreshTokenFlow`` and ``ClientCredentialsFlow`` set it on theirs.
    /// A loader of your own that logs bodies should respect it too.
    public var hidesBodies: Bool {
        get { self[option: HiddenBodiesOption.self] }
        set { self[option: HiddenBodiesOption.self] = newValue }
    }
}

/// The beginning of a body, as the lines of a log show it.
struct PrintedBody {
    /// The lines; none for an empty body, or if bodies are not shown.
    let lines: [String]

    static let hidden = PrintedBody(lines: ["<a body that is hidden>"])

    init(_ data: Data, limit: Int) {
        self.init(beginning: data.prefix(max(limit, 0)), length: Int64(data.count))
    }

    /// Shows at most `limit` of the bytes, if the body can be read more than once.
    init(_ body: any HTTPBody, limit: Int) {
        guard limit > 0, !body.isEmpty else {
            self.init(beginning: Data(), length: 0)
            return
        }
        guard body.canBeSentAgain else {
            self.init(lines: ["<a body that can be read only once>"])
            return
        }
        do {
            let content = try body.encode()
            self.init(beginning: try Self.beginning(of: content, upTo: limit), length: content.length)
        } catch {
            self.init(lines: ["<a body that fails to encode>"])
        }
    }

    private init(lines: [String]) { self.lines = lines }

    private init(beginning: Data, length: Int64?) {
        guard !beginning.isEmpty else {
            self.init(lines: [])
            return
        }
        let rest = length.map { $0 - Int64(beginning.count) }
        guard let text = Self.text(beginning, isCut: rest != 0) else {
            self.init(lines: ["<\(length.map { "\($0)" } ?? "at least \(beginning.count)") bytes of binary data>"])
            return
        }
        // The text of a server must not look like a line of the log.
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { ASCII.printable(String($0)) }
        if let rest, rest > 0 { lines.append("… and \(rest) more bytes") }
        self.init(lines: lines)
    }

    private static func beginning(of content: HTTPBodyContent, upTo limit: Int) throws -> Data {
        var reader = content.makeReader()
        var beginning = Data()
        while beginning.count < limit, let piece = try reader.read(upTo: limit - beginning.count) {
            beginning.append(piece)
        }
        return beginning
    }

    /// The bytes as text, without a character that was cut at the end; nil if they are not text.
    private static func text(_ bytes: Data, isCut: Bool) -> String? {
        let longestCharacter = 4
        for dropped in 0..<(isCut ? longestCharacter : 1) {
            if let text = String(validating: bytes.dropLast(dropped), as: UTF8.self) { return text }
        }
        return nil
    }
}
