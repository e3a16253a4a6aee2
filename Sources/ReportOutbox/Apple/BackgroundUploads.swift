#if canImport(Darwin)
    import Foundation
    import LoaderChain

    /// A terminal that hands requests to a background `URLSession`, which goes on while the app does not run.
    ///
    /// Make it before the box, with the same identifier in every launch. Open the box without sending, give it what the system
    /// finished meanwhile, and start:
    ///
    ///     let uploads = try BackgroundUploads(identifier: "com.example.reports", directory: uploadsDirectory)
    ///     let box = try ReportOutbox(directory: directory, chain: uploads, startsSending: false)
    ///     await uploads.reconcile(with: box)
    ///     box.startSending()
    ///
    /// Every upload is written down before it begins. This type has not been compiled or run on an Apple system yet.
    public final class BackgroundUploads: HTTPLoader, @unchecked Sendable {
        private struct State {
            var tasks: [String: HTTPTask] = [:]
            var finished: [String: HTTPResult] = [:]
        }

        private let state = Guarded(State())
        private let ledger: UploadLedger
        private let files: SystemFiles
        private let directory: URL
        private let relay = SessionRelay()
        private let session: URLSession

        /// Makes the terminal of an identifier, with a directory of its own for what is being uploaded.
        public init(identifier: String, directory: URL) throws {
            files = try SystemFiles(directory)
            ledger = UploadLedger(files: files)
            self.directory = directory
            session = URLSession(
                configuration: .background(withIdentifier: identifier), delegate: relay, delegateQueue: nil)
            super.init()
            relay.uploads = self
        }

        /// Settles what ended while the app was not running, and leaves what still runs to end here.
        public func reconcile(with box: ReportOutbox) async {
            let running = Set(await session.allTasks.compactMap(\.taskDescription))
            for id in (try? ledger.begun()) ?? [] {
                if let result = state.withLock({ $0.finished.removeValue(forKey: id.rawValue) }) {
                    _ = box.settle(id, with: result)
                } else if running.contains(id.rawValue) {
                    // Its result would come to nobody who waits for it; the box sends it again, with the same identity.
                    await session.allTasks.first { $0.taskDescription == id.rawValue }?.cancel()
                }
                try? ledger.end(id)
                try? files.remove(body(id))
            }
        }

        private func body(_ id: ReportID) -> String { id.idempotencyKey + ".body" }

        /// Writes down the upload, copies its bytes to where the system reads them, and begins.
        public override func load(task: HTTPTask) {
            guard let key = task.request.headers["Idempotency-Key"], let id = ReportID(key) else {
                fail(task, .invalidRequest, reason: "A background upload needs an Idempotency-Key")
                return
            }
            do {
                let encoded = try task.request.encoded()
                try? files.remove(body(id))
                let output = try files.create(body(id))
                var reader = encoded.content.makeReader()
                while let piece = try reader.read(upTo: RecordForm.pieceLength) {
                    try piece.withUnsafeBytes { try output.write($0) }
                }
                try output.close()
                try ledger.begin(id)
                var request = URLRequest(url: encoded.url)
                request.httpMethod = encoded.method.rawValue
                for field in encoded.headers where field.name.lowercased() != "content-length" {
                    request.addValue(field.value, forHTTPHeaderField: field.name)
                }
                state.withLock { $0.tasks[key] = task }
                let upload = session.uploadTask(with: request, fromFile: directory.appending(path: body(id)))
                upload.taskDescription = key
                task.addCancelHandler { upload.cancel() }
                upload.resume()
            } catch let error as HTTPError {
                task.complete(.failure(error))
            } catch {
                fail(task, .unknown, underlyingError: error)
            }
        }

        fileprivate func ended(_ upload: URLSessionTask, _ error: (any Error)?) {
            guard let key = upload.taskDescription, let id = ReportID(key) else { return }
            let task = state.withLock { $0.tasks.removeValue(forKey: key) }
            let request = task?.request ?? HTTPRequest()
            let result: HTTPResult
            if let response = upload.response as? HTTPURLResponse {
                result = .success(HTTPResponse(request: request, status: HTTPStatus(response.statusCode)))
            } else {
                let isOffline = (error as? URLError)?.code == .notConnectedToInternet
                result = .failure(
                    HTTPError(
                        isOffline ? .cannotConnect : .connectionLost, request: request, underlyingError: error,
                        loader: name))
            }
            guard let task else {
                return state.withLock { $0.finished[key] = result }
            }
            try? ledger.end(id)
            try? files.remove(body(id))
            task.complete(result)
        }
    }

    /// Stands between the session, which keeps its delegate for ever, and the uploads.
    private final class SessionRelay: NSObject, URLSessionDataDelegate, @unchecked Sendable {
        weak var uploads: BackgroundUploads?

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            uploads?.ended(task, error)
        }
    }
#endif
