import DurableFiles
import LoaderChainPlatformFoundation

/// Downloads files in as many parts as it takes, also after a relaunch.
///
/// ```swift
/// let chain = ResumableDownload() --> Retry(strategy) --> terminal
/// var request = HTTPRequest(url: url)
/// request.delivery = .file(URL(filePath: "/var/lib/films/film.mp4"))
/// let file = try await chain.load(request).file
/// ```
///
/// **What it does.** A GET whose ``HTTPRequest/delivery`` is a file goes to a part file next to that file. If the connection is
/// lost, or the server asks to come again later (408, 429, 500, 502, 503 or 504), the loader asks for the rest, until that
/// has failed ``Settings/maximumFailures`` times in a row. If it fails after all, or the process ends, the next request for the
/// same address and file continues there. Every other request passes unchanged.
///
/// **What it guarantees.** The file is what the server has, byte for byte, or there is an error:
/// - The rest is asked for with `If-Range`, and only by a strong `ETag`, or by a `Last-Modified` that is a minute older than its response.
///   Without one, the download starts over.
/// - A part that does not fit what is there is not used: another range, length, tag or checksum, or a coding such as gzip.
/// - The file appears, in one step, when it has its right length, and the checksum if the server names one: SHA-512 or
///   SHA-256 of `Repr-Digest`, `Content-MD5`, and the two of `x-goog-hash`. Of several, the strongest counts.
/// - Only a server that codes the whole file, although it was asked not to, is taken at its word: it names neither length nor checksum of
///   what the terminal has decoded.
/// - What a record on the disk says was flushed before. So neither a process that dies nor a loss of power leaves a mixture.
///
/// **Where it belongs.** Above ``Retry``, ``Throttle`` and everything else that is for one request. It asks for chunks, so
/// those see each part's head. The response has the status 200 and the length of the whole, however many parts there were;
/// ``HTTPRequest/onProgress`` is called with the progress of all, one call at a time. A response that is not a success is
/// delivered in memory, and the part file stays for the next time.
///
/// Meanwhile there are `film.mp4.part`, `.part.json` and `.part.lock` next to `film.mp4`; the record has no URL, but a digest
/// of it. Only this user can read them. The complete file is a new one like any other: the process's mask (`umask`) decides who
/// can read it. A second download to the same file fails with ``HTTPError/Code/cannotStoreResponse`` while the first is
/// running.
public final class ResumableDownload: AsyncLoader, @unchecked Sendable {
    /// The behavior of a download after a failure.
    public struct Settings: Sendable {
        /// The number of failures in a row after which the download fails; five by default.
        ///
        /// New bytes restart the count.
        public var maximumFailures = 5

        /// The bound of the random delay after the first failure, which doubles with each one in a row; a second by default.
        public var firstDelay = Duration.seconds(1)

        /// The maximum of that bound; half a minute by default.
        public var maximumDelay = Duration.seconds(30)

        /// The longest delay that a server can ask for by `Retry-After`; a minute by default.
        public var maximumRetryAfter = Duration.seconds(60)

        /// Settings with their defaults.
        public init() {}

        /// The number of bytes that are written before they are flushed to the disk, so that a process that dies loses no more.
        var bytesBetweenFlushes: Int64 = 8 << 20
    }

    private let settings: Settings
    private let timers: any Timers
    private let random: RandomSource
    private let openDirectory: @Sendable (URL) throws(FileFailure) -> any Directory

    /// Makes the loader.
    ///
    /// - Parameters:
    ///   - settings: the behavior of a download after a failure.
    ///   - timers: measures the delays.
    ///   - random: the source of the delays; give a seeded source in tests.
    public convenience init(
        _ settings: Settings = Settings(), timers: any Timers = SystemTimers.shared, random: RandomSource = .system
    ) {
        self.init(settings, timers: timers, random: random) { url throws(FileFailure) in
            try SystemDirectory(existing: url)
        }
    }

    /// Makes the loader with directories of a test.
    init(
        _ settings: Settings, timers: any Timers, random: RandomSource,
        openDirectory: @escaping @Sendable (URL) throws(FileFailure) -> any Directory
    ) {
        self.settings = settings
        self.timers = timers
        self.random = random
        self.openDirectory = openDirectory
    }

    public override func load(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard let file = Self.destination(of: request) else { return try await next(request) }
        let run = DownloadRun(
            request, to: file, settings: settings, timers: timers, random: random, loader: name, next: next)
        return try await run.load(openDirectory)
    }

    private static let ownHeaders = [
        "Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
    ]

    /// The file that a request is downloaded to; nil for a request that is not a download, or has conditions of its own.
    private static func destination(of request: HTTPRequest) -> URL? {
        guard case .file(let url) = request.delivery, request.method == .get, request.body.isEmpty, url.isFileURL,
            !url.lastPathComponent.isEmpty, !ownHeaders.contains(where: request.headers.contains)
        else { return nil }
        return url
    }
}

// MARK: - One download

extension HTTPLoader {
    /// Downloads a file in as many parts as it takes, and goes on with what an earlier call has left, also after a relaunch.
    ///
    /// ```swift
    /// try await chain.download(.get("film.mp4"), to: file) { show($0.fractionReceived) }
    /// ```
    ///
    /// See ``ResumableDownload``, which a chain can have as a loader, too. A request without a ``HTTPRequest/responseCheck``
    /// requires a success status.
    ///
    /// - Parameters:
    ///   - request: the request, a GET.
    ///   - file: the destination; an existing file is replaced once the new one is complete.
    ///   - settings: the behavior of the download after a failure.
    ///   - timers: measures the delays.
    ///   - random: the source of the delays; give a seeded source in tests.
    ///   - onProgress: called with the progress of all parts, one call at a time.
    /// - Returns: the response, whose ``HTTPResponse/file`` is the destination.
    @discardableResult
    public final func download(
        _ request: HTTPRequest, to file: URL, settings: ResumableDownload.Settings = ResumableDownload.Settings(),
        timers: any Timers = SystemTimers.shared, random: RandomSource = .system,
        onProgress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(HTTPError) -> HTTPResponse {
        var request = request
        request.delivery = .file(file)
        request.onProgress = onProgress ?? request.onProgress
        let download = ResumableDownload(settings, timers: timers, random: random)
        let response = try await (download --> self).load(request)
        if let error = (request.responseCheck ?? .success).verdict(on: response, by: name) { throw error }
        return response
    }
}

/// The name of a download; nil, the default, for its address.
package enum DownloadNameOption: HTTPRequestOption {
    package static var defaultOptionValue: String? { nil }
}

extension HTTPRequest {
    /// The name by which a ``ResumableDownload`` recognizes the download after a relaunch; nil for its address.
    ///
    /// Set it if the address changes although the file does not, such as an address that is signed anew each time.
    public var downloadName: String? {
        get { self[option: DownloadNameOption.self] }
        set { self[option: DownloadNameOption.self] = newValue }
    }
}
