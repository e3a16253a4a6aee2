import Dispatch
import Foundation
import LoaderChain

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A session with its delegate, and with the queue for calls that may wait for it.
///
/// Code that has a task of the session retains the session, so that no task is ever made on a session that was invalidated.
final class LiveSession: Sendable {
    let session: URLSession
    private let delegate = SessionDelegate()
    private let isShared: Bool
    /// The queue for calls that may wait for the session, which would deadlock if made from its own callbacks.
    let control = DispatchQueue(label: "LoaderChain.URLSessionLoader.control")
    /// The queue on which tasks are made, beside cancels, each of which waits for its turn at the session.
    private let preparation = DispatchQueue(label: "LoaderChain.URLSessionLoader.preparation")

    init(_ configuration: URLSessionConfiguration, sharing shared: URLSession? = nil) {
        #if canImport(FoundationNetworking)
            isShared = false
            session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: ImmediateQueue())
        #else
            isShared = shared != nil
            session = shared ?? URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        #endif
    }

    deinit {
        if !isShared { session.finishTasksAndInvalidate() }
    }

    /// Runs a closure that may wait for the session, which on Linux can take as long as what it is doing.
    func prepare(_ work: @escaping @Sendable () -> Void) {
        #if canImport(FoundationNetworking)
            preparation.async(execute: work)
        #else
            work()
        #endif
    }

    /// Makes a task of the session, whose events go to the exchange.
    func makeTask(_ request: URLRequest, body: OutgoingBody, for exchange: Exchange) -> LiveTask {
        let task: URLSessionTask =
            switch body.source {
            case .none: session.dataTask(with: request)
            case .data(let data): session.uploadTask(with: request, from: data)
            case .file(let url): session.uploadTask(with: request, fromFile: url)
            case .content(let content, let length): session.dataTask(with: request.streaming(content, length: length))
            }
        #if !canImport(FoundationNetworking)
            if isShared { task.delegate = delegate }
        #endif
        delegate.connect(exchange, to: task)
        return LiveTask(task: task, session: self)
    }
}

/// A task of a session.
struct LiveTask: Sendable {
    let task: URLSessionTask
    let session: LiveSession

    func resume() { task.resume() }

    /// Cancels the task.
    ///
    /// That waits for the session, which may be waiting for its delegate, and this may be its delegate's thread.
    func cancel() {
        session.control.async { [task] in task.cancel() }
    }
}
