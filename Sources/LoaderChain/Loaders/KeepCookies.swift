import Dispatch

/// Keeps the cookies of responses in a jar, and sends them with requests.
///
/// Put it below `Retry`, so that each attempt has the cookies of its moment, and above a cache, which keeps the responses of users apart by
/// their cookies; otherwise just above the terminal.
///
/// ```swift
/// let jar = CookieJar()
/// let chain = retry --> KeepCookies(in: jar) --> terminal
/// ```
///
/// A request with a `Cookie` field of its own is sent with that alone; the response's cookies are kept nevertheless. Cookies of redirects
/// are kept, and each step of a redirect is sent the cookies of its own host, if the terminal says at each step what it sends, as those of
/// this package do. With another one, the cookies of the first request and of the last response count.
///
/// A reset removes all cookies of the jar, from its file too. A request that was sent before brings none back.
public final class KeepCookies: HTTPLoader, @unchecked Sendable {
    /// The cookies.
    public let jar: CookieJar

    /// Makes a loader with a jar, which other chains may use too; by default with one of its own in memory.
    public init(in jar: CookieJar = CookieJar()) { self.jar = jar }

    /// Passes the task on with the cookies for its request, and keeps those of the response.
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
            // A failure stays the jar's, which tells it; a reset cannot.
            try? jar.save()
            group.leave()
        }
        super.reset(with: group)
    }

    /// The number of cookies.
    public override var details: String { "\(jar.cookies.count) cookies" }
}
