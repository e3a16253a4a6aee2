// Apple: what only Apple systems have: background sessions and the path monitor. It may use every other folder.

// Unverified: nothing in this file has run on an Apple system yet. It is type-checked against stand-ins; everything that
// decides is in `Uploads`, and tested with a session that is made up.
#if canImport(Darwin)
    import Dispatch
    import DurableFiles
    import Foundation
    import LoaderChain

    /// A terminal that hands requests to a background `URLSession`, which goes on while the app is suspended or does not run.
    ///
    /// Make one as soon as the app starts, with the same identifier and directory in every launch, and keep it:
    ///
    ///     let uploads = try BackgroundUploads(identifier: "com.example.reports", directory: uploadsDirectory)
    ///     let outbox = try ReportOutbox(directory: directory, chain: authorization --> uploads)
    ///
    /// Nothing else is needed from launch to launch. A request that is loaded again joins the upload that an earlier launch began,
    /// or gets the answer that came meanwhile; it is known by its `Idempotency-Key`, method, address and bytes, and without a key
    /// it fails with `HTTPError.Code.invalidRequest`. So what the server has accepted is sent again only where its answer was lost.
    ///
    /// - An upload has no deadline but the session's, and a box that is closed lets go of it without stopping it. Any other task
    ///   that is cancelled stops its upload, unless another task waits for it too.
    /// - The bytes lie in the directory as they are sent, unsealed, until the upload has ended: the system reads them without the app.
    /// - A response has a status and headers, and no body. Redirects are followed.
    /// - A box hands over as many reports as its settings' `maximumInFlight` says, to a single server one fewer; raise it to have more
    ///   sent while the app is away.
    public final class BackgroundUploads: HTTPLoader, @unchecked Sendable {
        private let engine: UploadEngine
        private let identifier: String

        /// Makes the terminal of an identifier, with a directory of its own for what is being uploaded.
        ///
        /// - Parameters:
        ///   - identifier: what the system knows the session by; no other session of the app has it.
        ///   - directory: where the box is; it is created, for this user alone, if it is missing.
        ///   - configure: changes the session's configuration: its patience, two days, or the networks it may use.
        /// - Throws: ``OutboxError/Code/inUse`` if other uploads have the directory, ``OutboxError/Code/directory`` if it cannot
        ///   be used.
        public init(
            identifier: String, directory: URL, configure: (URLSessionConfiguration) -> Void = { _ in }
        ) throws(OutboxError) {
            let files: SystemDirectory
            do throws(FileFailure) {
                files = try SystemDirectory(directory)
            } catch {
                throw OutboxError(opening: error, for: "terminal of uploads")
            }
            FolderProtection.afterFirstUnlock.apply(to: directory)
            let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
            configuration.timeoutIntervalForResource = 2 * 24 * 3600
            // The app's cookies are not the reports', and would replace those of the request.
            configuration.httpCookieStorage = nil
            configuration.httpShouldSetCookies = false
            configure(configuration)
            self.identifier = identifier
            engine = try UploadEngine(files: files, timers: SystemTimers.shared, loader: "BackgroundUploads") {
                engine in
                BackgroundSession(configuration, directory, engine)
            }
            super.init()
        }

        /// Lets the uploads go on; until they have ended, no other can be made for the directory.
        deinit { engine.finish() }

        /// True: it completes every task itself.
        public override var isTerminal: Bool { true }

        /// Joins the upload of the request's content, or begins one.
        public override func load(task: HTTPTask) { engine.load(task) }

        /// Stops every upload.
        public override func reset(with group: DispatchGroup) {
            group.enter()
            engine.reset { group.leave() }
            super.reset(with: group)
        }

        /// The `Idempotency-Key`s of the uploads that go on, or whose answer no request has had yet.
        public var keys: [String] { engine.keys }

        /// Calls a completion handler, on the main queue, once everything was heard that happened while the app did not run.
        ///
        /// Call it where the app is told:
        ///
        ///     func application(
        ///         _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
        ///         completionHandler: @escaping () -> Void
        ///     ) {
        ///         uploads.handleEvents(forSession: identifier, completionHandler: completionHandler)
        ///     }
        ///
        /// - Returns: whether the session is this one; otherwise nothing is done.
        @MainActor
        @discardableResult
        public func handleEvents(forSession identifier: String, completionHandler: @escaping () -> Void) -> Bool {
            guard identifier == self.identifier else { return false }
            engine.whenEventsAreDelivered(completionHandler)
            return true
        }

        /// Returns once everything was heard that happened while the app did not run, as in a scene's
        /// `backgroundTask(.urlSession("com.example.reports"))`.
        @MainActor
        public func handleEvents() async {
            await withCheckedContinuation { continuation in
                engine.whenEventsAreDelivered { continuation.resume() }
            }
        }
    }

    /// A background session of the system's, as the engine knows it.
    private final class BackgroundSession: UploadSession {
        private let session: URLSession
        private let directory: URL

        init(_ configuration: URLSessionConfiguration, _ directory: URL, _ engine: UploadEngine) {
            self.directory = directory
            session = URLSession(configuration: configuration, delegate: SessionRelay(engine), delegateQueue: nil)
        }

        func uploads(_ answer: @escaping @Sendable ([UploadID]) -> Void) {
            session.getAllTasks { tasks in
                // One that was made and not begun, because the process ended between the two, begins now.
                for task in tasks where task.state == .suspended { task.resume() }
                answer(tasks.compactMap(\.id))
            }
        }

        func start(_ id: UploadID, _ request: EncodedRequest, bodyIn file: String) {
            var message = URLRequest(url: request.url)
            message.httpMethod = request.method.rawValue
            // The session sets the length by the file.
            for field in request.headers where field.name.lowercased() != "content-length" {
                message.addValue(field.value, forHTTPHeaderField: field.name)
            }
            let networks = request.request.networkAccess
            if !networks.contains(.cellular) { message.allowsCellularAccess = false }
            if !networks.contains(.expensive) { message.allowsExpensiveNetworkAccess = false }
            if !networks.contains(.constrained) { message.allowsConstrainedNetworkAccess = false }
            let task = session.uploadTask(with: message, fromFile: directory.appending(path: file))
            task.taskDescription = id.text
            task.resume()
        }

        func stop(_ id: UploadID) {
            session.getAllTasks { tasks in tasks.first { $0.id == id }?.cancel() }
        }

        func finish() { session.finishTasksAndInvalidate() }
    }

    extension URLSessionTask {
        /// The upload that the task is, if it is one of ours.
        fileprivate var id: UploadID? { taskDescription.flatMap { UploadID($0) } }
    }

    /// Tells the engine what the session tells; the session keeps it, and with it the engine, for as long as it lives.
    private final class SessionRelay: NSObject, URLSessionDataDelegate {
        private let engine: UploadEngine

        init(_ engine: UploadEngine) { self.engine = engine }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            guard let id = task.id else { return }
            // What went wrong after the head of a response takes nothing back of what the server said.
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
        /// What an error means for an upload; any other error leaves open whether the server has it.
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
