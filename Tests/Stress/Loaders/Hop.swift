import Dispatch
import LoaderChain

/// Passes tasks on, on another thread.
final class Hop: HTTPLoader, @unchecked Sendable {
    private let queue = DispatchQueue(label: "Hop", attributes: .concurrent)

    override func load(task: HTTPTask) {
        queue.async { super.load(task: task) }
    }
}
