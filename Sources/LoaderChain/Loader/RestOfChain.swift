/// The loaders after an authenticating one, for whoever gets it its credentials.
///
/// What is asked of them is a new task of its own. It does not pass the loader that the credentials are for: it waits for
/// nothing there, and carries no more than it was given.
public struct RestOfChain: Sendable {
    private let result: @Sendable (HTTPRequest) async -> HTTPResult

    /// The chain that begins with `loader`, as for a test of a source by itself.
    public init(startingWith loader: HTTPLoader) {
        result = { request in
            do throws(HTTPError) { return .success(try await loader.load(request)) } catch { return .failure(error) }
        }
    }

    init(below loader: any AuthorizingLoader) {
        result = { request in await HTTPTask(request: request).result { loader.passOn($0) } }
    }

    /// Loads a request.
    ///
    /// Cancelling the Swift task that waits here cancels the loading.
    public func callAsFunction(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        try await result(request).get()
    }
}
