// Apple: features of Apple systems: background sessions and the path monitor. It may use every other folder.

// Unverified: nothing in this file has run on an Apple system yet. It is type-checked against stubs. All decisions are made in
// `Uploads`, which is tested with a simulated session.
#if canImport(Darwin)
    import Dispatch
    import DurableFiles
    import Foundation
    import LoaderChain

    /// A terminal that passes requests to a background `URLSession`, which continues while the app is suspended or does not run.
    ///
    /// Make one as soon as the app starts, with the same identifier and directory in every launch, and keep it:
    ///
    ///     let uploads = try BackgroundUploads(identifier: "com.example.reports", directory: uploadsDirectory)
    ///     let outbox = try ReportOutbox(directory: directory, chain: authorization --> uploads)
    ///
    /// Nothing else is needed from launch to launch. A request that is loaded again joins the upload of an earlier launch, or
    /// gets the answer that has arrived meanwhile. Uploads are matched by `Idempotency-Key`, method, address and bytes; without a
    /// key, a request fails with `HTTPError.Code.invalidRequest`. So a report that the server has accepted is sent again only if
    /// its answer was lost.
    ///
    /// - An upload has no timeout except the session's. Closing an outbox does not stop its uploads. Cancelling any other task
    ///   stops its upload, unless another task waits for it too.
    /// - The bytes are stored in the directory as they are sent, unsealed, until the upload has ended: the system reads them
    ///   without the app.
    /// - A response has a status and headers, and no body.
    /// - The system follows redirects without asking the app, to other servers too: `HTTPRequest.redirects` has no effect, and headers
    ///   that may be secret are not removed. Send reports with credentials to servers that do not redirect to others.
    /// - An outbox passes on at most `maximumInFlight` reports, and one fewer to a single server; raise that setting to have more
    ///   reports sent while the app is away.
    public final class BackgroundUploads: HTTPLoader, @unchecked Sendable {
        private let engine: UploadEngine
        private let identifier: String

        /// Creates a terminal with an identifier, and with a directory of its own.
        ///
        /// - Parameters:
        ///   - identifier: the identifier of the background session, unique among the app's sessions.
        ///   - directory: the directory for uploads; if missing, it is created, accessible to this user alone.
        ///   - configure: changes the session's configuration, such as its timeout of two days, or the networks that it may use.
        /// - Throws: ``OutboxError/Code/inUse`` if another terminal uses the directory, ``OutboxError/Code/diskFull`` if there is no
        ///   room for it, ``OutboxError/Code/directory`` if it cannot be used.
        public init(
            identifier: String, directory: URL, configure: (URLSessionConfiguration) -> Void = { _ in }
        ) throws(OutboxError) {
            let files: SystemDirectory
            do throws(FileFailure) {
                files = try SystemDirectory(directory)
            } catch {
                throw OutboxError(opening: error, for: "upload terminal")
            }
            SystemDirectory.protect(directory)
            let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
            configuration.timeoutIntervalForResource = 2 * 24 * 3600
            // The app's cookies must not be sent with reports, and would replace those of the request.
            configuration.httpCookieStorage = nil
            configuration.httpShouldSetCookies = false
            configure(configuration)
            self.identifier = identifier
            engine = try UploadEngine(files: files, timers: SystemTimers.shared, loader: "BackgroundUploads") {
                engine in
                BackgroundSession(configuration, files, engine)
            }
            super.init()
        }

        /// Leaves the uploads running; until they have ended, no other terminal can use the directory.
        deinit { engine.finish() }

        public override var isTerminal: Bool { true }

        public override func load(task: HTTPTask) { engine.load(task) }

        /// Stops every upload.
        public override func reset(with group: DispatchGroup) {
            group.enter()
            engine.reset { group.leave() }
            super.reset(with: group)
        }

        /// The `Idempotency-Key`s of the uploads that continue, or whose answer no request has received yet.
        public var keys: [String] { engine.keys }

        /// Calls a completion handler, on the main queue, when all background events are processed.
        ///
        /// Call this method from the app's delegate:
        ///
        ///     func application(
        ///         _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
        ///         completionHandler: @escaping () -> Void
        ///     ) {
        ///         uploads.handleEvents(forSession: identifier, completionHandler: completionHandler)
        ///     }
        ///
        /// - Returns: whether the identifier is that of this terminal; otherwise the call has no effect.
        @MainActor
        @discardableResult
        public func handleEvents(forSession identifier: String, completionHandler: @escaping () -> Void) -> Bool {
            guard identifier == self.identifier else { return false }
            engine.whenEventsAreDelivered(completionHandler)
            return true
        }

        /// Returns when all background events are processed, or when its Swift task is cancelled, for use in a scene's
        /// `backgroundTask(.urlSession("com.example.reports"))`.
        @MainActor
        public func handleEvents() async { await engine.waitForEvents() }
    }

    private final class BackgroundSession: UploadSession {
        private let session: URLSession
        private let files: SystemDirectory

        init(_ configuration: URLSessionConfiguration, _ files: SystemDirectory, _ engine: UploadEngine) {
            self.files = files
            session = URLSession(configuration: configuration, delegate: SessionRelay(engine), delegateQueue: nil)
        }

        func uploads(_ answer: @escaping @Sendable ([UploadID]) -> Void) {
            session.getAllTasks { tasks in
                // A task that was created but not resumed, because the process ended in between, is resumed now.
                for task in tasks where task.state == .suspended { task.resume() }
                answer(tasks.compactMap(\.id))
            }
        }

        func start(_ id: UploadID, _ request: EncodedRequest, bodyIn file: String) throws(FileFailure) {
            // The session would end the app if it could not read the file.
            _ = try files.open(file)
            guard let body = files.url(of: file) else { throw FileFailure("sent", file, code: ENOENT) }
            var message = URLRequest(url: request.url)
            message.httpMethod = request.method.rawValue
            // The session sets the length of the file itself.
            for field in request.headers where field.name.lowercased() != "content-length" {
                message.addValue(field.value, forHTTPHeaderField: field.name)
            }
            let networks = request.request.networkAccess
            if !networks.contains(.cellular) { message.allowsCellularAccess = false }
            if !networks.contains(.expensive) { message.allowsExpensiveNetworkAccess = false }
            if !networks.contains(.constrained) { message.allowsConstrainedNetworkAccess = false }
            let task = session.uploadTask(with: message, fromFile: body)
            task.taskDescription = id.text
            task.resume()
        }

        func stop(_ id: UploadID) {
            session.getAllTasks { tasks in tasks.first { $0.id == id }?.cancel() }
        }

        func finish() { session.finishTasksAndInvalidate() }
    }

    extension URLSessionTask {
        /// The identifier of the upload; nil for a foreign task.
        fileprivate var id: UploadID? { taskDescription.flatMap { UploadID($0) } }
    }

    /// Passes the session's events to the engine; the session retains it, and with it the engine.
    private final class SessionRelay: NSObject, URLSessionDataDelegate {
        private let engine: UploadEngine

        init(_ engine: UploadEngine) { self.engine = engine }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            guard let id = task.id else { return }
            // An error after the head of a response does not change the server's answer.
            if let response = task.response as? HTTPURLResponse {
                engine.ended(id, .answered(HTTPStatus(response.statusCode), HTTPHeaders(response)))
            } else {
                engine.ended(id, .failed(HTTPError.Code(error as? URLError)))
            }
        }

        func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) { engine.eventsAreDelivered() }
    }

    extension HTTPHeaders {
        fileprivate init(_ response: HTTPURLResponse) {
            self.init(response.allHeaderFields.map { HTTPHeaders.Field("\($0.key)", "\($0.value)") })
        }
    }

    extension HTTPError.Code {
        /// Translates an error of an upload; after errors that are not listed, the server may have received the report.
        fileprivate init(_ error: URLError?) {
            self =
                switch error?.code {
                case .notConnectedToInternet, .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .dataNotAllowed:
                    .cannotConnect
                case .cancelled: .cancelled
                case .timedOut: .timedOut
                case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
                    .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid:
                    .insecureConnection
                default: .connectionLost
                }
        }
    }
#endif
