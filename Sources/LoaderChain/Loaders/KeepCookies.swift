import Dispatch
import Synchronization

/// Keeps the cookies of responses in a jar, and sends them with requests.
///
/// Put it below `Retry`, so that each attempt has the cookies of its moment, and above a cache, which separates the responses
/// of users by their cookies, and keeps no `Set-Cookie`; otherwise just above the terminal.
///
/// ```swift
/// let jar = CookieJar()
/// let chain = retry --> KeepCookies(in: jar) --> terminal
/// ```
///
/// A request with a `Cookie` field of its own is sent with that alone; the response's cookies are kept nevertheless. Cookies of
/// redirects are kept, and each step of a redirect is sent the cookies of its own host, if the terminal asks for them at each
/// step, as those of this package do. With another terminal, the cookies of the first request and of the last response count.
///
/// A reset removes all cookies of the jar, from its file too. A request that was sent before brings none back.
public final class KeepCookies: HTTPLoader, @unchecked Sendable {
    /// The cookies.
    public let jar: CookieJar

    /// Makes a loader with a jar, which other chains may use too; by default with a jar of its own in memory.
    public init(in jar: CookieJar = CookieJar()) { self.jar = jar }

    public override func load(task: HTTPTask) {
        var request = task.request
        let keeper = CookieKeeper(jar, for: &request)
        request[option: CookieKeeperOption.self] = keeper
        task.request = request
        task.addCompletionHandler { result in
            if let response = result.response { keeper.finish(response) }
        }
        super.load(task: task)
    }

    /// Removes all cookies, and leaves the group when the file has none of them any more.
    public override func reset(with group: DispatchGroup) {
        group.enter()
        jar.removeAll()
        DispatchQueue.global().async { [jar] in
            // The jar reports a failure; a reset cannot.
            try? jar.save()
            group.leave()
        }
        super.reset(with: group)
    }

    /// The number of cookies.
    public override var details: String { "\(jar.cookies.count) cookies" }
}

// MARK: - At each step of a request

/// Handles the cookies of one request at each step: the request itself, and each redirect that is followed.
///
/// ``KeepCookies`` makes one, and a terminal that follows redirects itself asks it at every step. With a terminal that does
/// not, the loader handles the first step and the last response.
private final class CookieKeeper: Sendable {
    private let jar: CookieJar
    /// The fields that were put into the request; another one is the request's own, and stays.
    private let put = Locked<Set<String>>([])
    private let removals: Int
    /// Whether a terminal asks at every step.
    private let isAsked = Atomic(false)

    init(_ jar: CookieJar, for request: inout HTTPRequest) {
        self.jar = jar
        removals = jar.removals
        if !request.headers.contains("Cookie") { change(&request) }
    }

    /// Puts the jar's cookies for this step into a request that has none of its own.
    func prepare(_ request: inout HTTPRequest) {
        isAsked.store(true, ordering: .relaxed)
        if let own = request.headers["Cookie"], !put.withLock({ $0.contains(own) }) { return }
        change(&request)
    }

    private func change(_ request: inout HTTPRequest) {
        let field = jar.field(for: request)
        if field == request.headers["Cookie"] { return }
        request.headers["Cookie"] = field
        if let field { put.withLock { _ = $0.insert(field) } }
    }

    /// Takes the cookies of the response to one step.
    func receive(_ response: HTTPResponse) { jar.insert(response, after: removals) }

    /// Takes the cookies of the response to the whole, if no terminal has asked.
    func finish(_ response: HTTPResponse) {
        if !isAsked.load(ordering: .relaxed) { receive(response) }
    }
}

/// The keeper of a request's cookies; nil, the default, for none.
private enum CookieKeeperOption: HTTPRequestOption {
    static var defaultOptionValue: CookieKeeper? { nil }
}

extension HTTPRequest {
    /// The request with the cookies of the jar that a ``KeepCookies`` has chosen; the same request if there is none.
    ///
    /// A terminal that follows redirects itself sends what this returns, at each step. For a step to another host it removes the `Cookie` field,
    /// as any that holds secrets. A `Cookie` field of the request's own stays as it is.
    ///
    /// When the head of a response arrives, also of a redirect, the terminal calls ``HTTPResponse/keepCookies()``.
    public func addingCookies() -> HTTPRequest {
        guard let keeper = self[option: CookieKeeperOption.self] else { return self }
        var request = self
        keeper.prepare(&request)
        return request
    }
}

extension HTTPResponse {
    /// Puts the cookies of the response into the jar that a ``KeepCookies`` has chosen for its request; nothing if there is none.
    ///
    /// A terminal that follows redirects itself calls it for each response, with the request of the step that it answers.
    public func keepCookies() {
        guard let keeper = request[option: CookieKeeperOption.self], headers.contains("Set-Cookie") else { return }
        keeper.receive(self)
    }
}
