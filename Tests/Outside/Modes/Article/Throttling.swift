import Foundation
import LoaderChain

/// The throttle as a reader of the article would write it, as a loader of a user's own.
public class Throttling: HTTPLoader, @unchecked Sendable {
    /// How many tasks may run at once.
    public var maximumNumberOfRequests = UInt.max

    private var executingRequests = [UUID: HTTPTask]()
    private var pendingRequests = [HTTPTask]()

    public override func load(task: HTTPTask) {
        if task.request.throttling == .never {
            super.load(task: task)
            return
        }
        if UInt(executingRequests.count) < maximumNumberOfRequests {
            startTask(task)
        } else {
            let id = task.id
            task.addCancelHandler {
                if let index = self.pendingRequests.firstIndex(where: { $0.id == id }) {
                    let thisTask = self.pendingRequests.remove(at: index)
                    let error = HTTPError(.cancelled, request: thisTask.request)
                    thisTask.complete(.failure(error))
                }
            }
            pendingRequests.append(task)
        }
    }

    private func startTask(_ task: HTTPTask) {
        let id = task.id
        executingRequests[id] = task
        task.addCompletionHandler {
            self.executingRequests[id] = nil
            self.startNextTasksIfAble()
        }
        super.load(task: task)
    }

    private func startNextTasksIfAble() {
        while UInt(executingRequests.count) < maximumNumberOfRequests && pendingRequests.count > 0 {
            // There is capacity for another request, and there are more to start.
            let next = pendingRequests.removeFirst()
            startTask(next)
        }
    }
}

/// Whether a request is throttled.
public enum ThrottlingOption: HTTPRequestOption {
    /// Throttled, by default.
    public static var defaultOptionValue: ThrottlingOption { .always }

    /// The request is throttled.
    case always
    /// The request passes straight through.
    case never
}

extension HTTPRequest {
    /// Whether the request is throttled.
    public var throttling: ThrottlingOption {
        get { self[option: ThrottlingOption.self] }
        set { self[option: ThrottlingOption.self] = newValue }
    }
}
