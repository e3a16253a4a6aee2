// Unverified: nothing here has been compiled on an Apple system yet.
#if !canImport(FoundationNetworking)
    import Foundation
    import LoaderChain

    /// Uploads of files that go on while the app is suspended or has ended.
    ///
    /// They are no tasks of a chain, because a chain ends with its process. Each has a name of the app's; whoever sends
    /// under a name hears of its end under that name, perhaps in a later process. Make one for an identifier as soon as the
    /// app starts, so that the system can tell what happened meanwhile.
    public final class BackgroundUploads: NSObject, URLSessionDataDelegate, @unchecked Sendable {
        /// How an upload ended.
        public struct Event: Sendable {
            /// The name that it was sent under.
            public let name: String
            /// The status that the server answered, if it did.
            public let status: HTTPStatus?
            /// The error, if there was one.
            public let error: URLError?
        }

        private let onEvent: @Sendable (Event) -> Void
        private let systemCompletion = Guarded<(@Sendable () -> Void)?>(nil)
        private let configuration: URLSessionConfiguration
        private lazy var session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)

        /// Takes up the uploads of an identifier, and hears how they end.
        public init(identifier: String, onEvent: @escaping @Sendable (Event) -> Void) {
            self.onEvent = onEvent
            configuration = .background(withIdentifier: identifier)
            super.init()
            _ = session
        }

        /// Sends a file as the body of a request; the file stays where it is until the upload has ended.
        public func send(_ request: HTTPRequest, file: URL, name: String) throws(HTTPError) {
            let task = session.uploadTask(with: URLRequest(try request.encoded()), fromFile: file)
            task.taskDescription = name
            task.resume()
        }

        /// The names of the uploads that have not ended.
        public func pending() async -> [String] {
            await session.allTasks.compactMap(\.taskDescription)
        }

        /// Keeps what the system is to be told once all events have been heard: the app delegate is given it.
        public func handleEvents(_ completion: @escaping @Sendable () -> Void) {
            systemCompletion.withLock { $0 = completion }
        }

        /// Lets the uploads go on without this object, which its session keeps until then.
        public func finish() { session.finishTasksAndInvalidate() }

        /// Tells how an upload ended.
        public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            guard let name = task.taskDescription else { return }
            let status = (task.response as? HTTPURLResponse).map { HTTPStatus($0.statusCode) }
            onEvent(Event(name: name, status: status, error: error as? URLError))
        }

        /// Tells the system that all has been heard.
        public func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
            systemCompletion.withLock { exchange(&$0, with: nil) }?()
        }
    }
#endif
