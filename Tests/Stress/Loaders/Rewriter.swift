import LoaderChain

/// Replaces each request, and then changes it in place.
final class Rewriter: HTTPLoader, @unchecked Sendable {
    override func load(task: HTTPTask) {
        var request = task.request
        request.queryItems.append(HTTPQueryItem("rewritten", "yes"))
        task.request = request
        task.request.headers["X-Seen"] = "\(request.headers.count)"
        super.load(task: task)
    }
}
