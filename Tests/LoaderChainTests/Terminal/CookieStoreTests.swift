import LoaderChainPlatformFoundation
import LoaderChainTesting
import Testing

@testable import LoaderChain

/// The jar compared with the standard's rules, applied one after another to a plain list.
@Suite(.timeLimit(.minutes(10))) struct CookieStoreTests {
    @Test(arguments: 0..<4 as Range<UInt64>) func jarAgreesWithStandardsAlgorithm(_ group: UInt64) {
        takeWalks(seeds: group * 100..<group * 100 + 100) { seed in
            var walk = CookieWalk(seed: seed)
            for step in 0..<60 { if let fault = walk.step() { return "step \(step): \(fault)" } }
            return nil
        }
    }
}

private struct CookieWalk {
    private var random: SeededGenerator
    private let timers = ManualTimers()
    private let jar: CookieJar
    private var list = CookieList()

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        let store = CookieStore(limitPerDomain: CookieList.limitPerDomain, limit: CookieList.limit)
        jar = CookieJar(store, publicSuffixes: .singleLabels, timers: timers)
    }

    private mutating func any<Element>(_ elements: [Element]) -> Element { elements.randomElement(using: &random)! }

    mutating func step() -> String? {
        if Int.random(in: 0..<8, using: &random) == 0 { timers.advance(by: .seconds(any([1, 5, 20]))) }
        let place = CookieList.Place(
            host: any(["a.test", "a.test", "a.test", "a.test", "b.a.test", "c.b.a.test", "xa.test", "test", "1.2.3.4"]),
            path: any(["", "/", "/x", "/x/", "/x/y", "/xy", "/x/y/z"]), isSecure: Bool.random(using: &random))
        let url = URL(string: "\(place.isSecure ? "https" : "http")://\(place.host)\(place.path)")!
        let now = timers.date.timeIntervalSince1970
        if Int.random(in: 0..<80, using: &random) == 0 {
            jar.removeAll()
            list.cookies = []
        } else if Bool.random(using: &random) {
            let new = CookieList.New(
                name: any(["n", "m", "o", "", "__Host-n", "__secure-m"]), value: any(["1", "2", ""]),
                domain: any([nil, nil, nil, "", "a.test", ".a.test", "b.a.test", "test", "1.2.3.4", "3.4", "x.test"]),
                path: any([nil, nil, nil, "", "/", "/x", "/x/y", "x"]),
                age: any([nil, nil, nil, nil, 0, -1, 3, 10, 30]),
                isSecure: Bool.random(using: &random))
            jar.insert(new.field, for: HTTPRequest(url: url))
            list.set(new, from: place, now)
        } else {
            let expected = list.field(for: place, now)
            let field = jar.field(for: HTTPRequest(url: url)) ?? ""
            if field != expected { return "\(url) is sent \(field), not \(expected)" }
        }
        let expected = list.living(now).map { "\($0.new.name)=\($0.new.value) \($0.domain)\($0.path)" }
        let found = jar.cookies.map { "\($0.name)=\($0.value) \($0.domain)\($0.path)" }
        return found == expected ? nil : "there are \(found), not \(expected)"
    }
}

/// A jar as the standard describes it, without any thought for speed.
private struct CookieList {
    static let limitPerDomain = 3
    static let limit = 8

    struct Place {
        let host: String
        let path: String
        let isSecure: Bool
    }

    struct New {
        let name: String
        let value: String
        let domain: String?
        let path: String?
        let age: Int?
        let isSecure: Bool

        var field: String {
            var field = "\(name)=\(value)"
            if let age { field += "; Max-Age=\(age)" }
            if let domain { field += "; Domain=\(domain)" }
            if let path { field += "; Path=\(path)" }
            return field + (isSecure ? "; Secure" : "")
        }
    }

    struct Cookie {
        let new: New
        let domain: String
        let isHostOnly: Bool
        let path: String
        let end: Double
        var created: Int
        var used: Int
    }

    var cookies: [Cookie] = []
    private var step = 0

    func living(_ now: Double) -> [Cookie] { cookies.filter { $0.end > now }.sorted { $0.created < $1.created } }

    private func matches(_ host: String, _ domain: String) -> Bool {
        host == domain || host.hasSuffix("." + domain) && host != "1.2.3.4"
    }

    private func matchesPath(_ path: String, _ cookiePath: String) -> Bool {
        path == cookiePath || path.hasPrefix(cookiePath.hasSuffix("/") ? cookiePath : cookiePath + "/")
    }

    mutating func set(_ new: New, from place: Place, _ now: Double) {
        if new.name.isEmpty && new.value.isEmpty { return }
        var domain = new.domain ?? ""
        if domain.hasPrefix(".") { domain.removeFirst() }
        if !domain.isEmpty, !domain.contains(".") {
            if domain == place.host { domain = "" } else { return }
        }
        let isHostOnly = domain.isEmpty
        if !isHostOnly && !matches(place.host, domain) { return }
        if isHostOnly { domain = place.host }
        let named = new.path.flatMap { $0.hasPrefix("/") ? $0 : nil }
        let segments = place.path.split(separator: "/", omittingEmptySubsequences: false)
        let path = named ?? (segments.count < 3 ? "/" : segments.dropLast().joined(separator: "/"))
        if new.isSecure && !place.isSecure { return }
        if !new.isSecure && !place.isSecure {
            let covered = living(now).contains {
                $0.new.isSecure && $0.new.name == new.name && matchesPath(path, $0.path)
                    && (matches($0.domain, domain) || matches(domain, $0.domain))
            }
            if covered { return }
        }
        let lowercased = new.name.lowercased()
        if lowercased.hasPrefix("__secure-"), !new.isSecure { return }
        if lowercased.hasPrefix("__host-"), !new.isSecure || !isHostOnly || named != "/" { return }
        step += 1
        var cookie = Cookie(
            new: new, domain: domain, isHostOnly: isHostOnly, path: path,
            end: new.age.map { now + Double($0) } ?? .infinity, created: step, used: step)
        let old = cookies.firstIndex {
            $0.new.name == new.name && $0.domain == domain && $0.isHostOnly == isHostOnly && $0.path == path
        }
        if let old { cookie.created = cookies.remove(at: old).created }
        if cookie.end > now { cookies.append(cookie) }
        shrink(domain, now)
    }

    private mutating func shrink(_ domain: String, _ now: Double) {
        let isFull = { (list: CookieList) in list.cookies.filter { $0.domain == domain }.count > Self.limitPerDomain }
        if isFull(self) || cookies.count > Self.limit { cookies = living(now) }
        if isFull(self) {
            let own = cookies.filter { $0.domain == domain }
            let weak = own.filter { !$0.new.isSecure }
            removeStalest(of: weak.isEmpty ? own : weak)
        }
        if cookies.count > Self.limit { removeStalest(of: cookies) }
    }

    private mutating func removeStalest(of some: [Cookie]) {
        let stalest = some.sorted { ($0.used, $0.created) < ($1.used, $1.created) }[0]
        cookies.removeAll { $0.created == stalest.created }
    }

    mutating func field(for place: Place, _ now: Double) -> String {
        step += 1
        var sent: [Cookie] = []
        for index in cookies.indices {
            let cookie = cookies[index]
            let isForHost = cookie.isHostOnly ? place.host == cookie.domain : matches(place.host, cookie.domain)
            guard cookie.end > now, isForHost, !cookie.new.isSecure || place.isSecure,
                matchesPath(place.path.isEmpty ? "/" : place.path, cookie.path)
            else { continue }
            cookies[index].used = step
            sent.append(cookie)
        }
        sent.sort { $0.path.count == $1.path.count ? $0.created < $1.created : $0.path.count > $1.path.count }
        return sent.map { $0.new.name.isEmpty ? $0.new.value : "\($0.new.name)=\($0.new.value)" }
            .joined(separator: "; ")
    }
}
