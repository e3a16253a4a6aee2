import LoaderChain
import Synchronization

/// Sends requests for any host to the demo API, and hides from the loaders above it that there is only one server.
///
/// The chain sees several hosts, each with its own circuit and limits, and no name has to be resolved.
final class DemoGateway: HTTPLoader, @unchecked Sendable {
    private let port: Int
    private let sentCount = Atomic(0)
    private let endedCount = Atomic(0)

    init(port: Int) { self.port = port }

    var sent: Int { sentCount.load(ordering: .relaxed) }

    var inFlight: Int { max(0, sent - endedCount.load(ordering: .relaxed)) }

    override var details: String { "in flight \(inFlight)" }

    override func load(task: HTTPTask) {
        let asked = task.request
        task.request.scheme = "http"
        task.request.host = "127.0.0.1"
        task.request.port = port
        task.addResultFilter { result in
            switch result {
            case .success(var response):
                response.request = asked
                return .success(response)
            case .failure(var error):
                error.request = asked
                error.response?.request = asked
                return .failure(error)
            }
        }
        sentCount.add(1, ordering: .relaxed)
        task.addCompletionHandler { [weak self] _ in self?.endedCount.add(1, ordering: .relaxed) }
        super.load(task: task)
    }
}
