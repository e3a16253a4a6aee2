import LoaderChainPlatformFoundation
import LoaderChainTesting
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct CookieJarTests {
    static func request(_ url: String) -> HTTPRequest { HTTPRequest(url: URL(string: url)!) }

    /// Who gets what a server sets.
    @Test(arguments: [
        // Hosts.
        ("https://a.test/", "n=v", "https://a.test/", true), ("https://a.test/", "n=v", "https://A.TEST:8443/x", true),
        ("https://a.test/", "n=v", "https://b.a.test/", false), ("https://b.a.test/", "n=v", "https://a.test/", false),
        ("https://a.test/", "n=v; Domain=a.test", "https://b.a.test/", true),
        ("https://a.test/", "n=v; Domain=a.test", "https://a.test/", true),
        ("https://b.a.test/", "n=v; Domain=.A.test", "https://c.a.test/", true),
        ("https://b.a.test/", "n=v; Domain=a.test", "https://xa.test/", false),
        ("https://b.a.test/", "n=v; Domain=b.a.test", "https://a.test/", false),
        ("https://a.test/", "n=v; Domain=b.a.test", "https://b.a.test/", false),
        ("https://a.test/", "n=v; Domain=x.test", "https://x.test/", false),
        ("https://xa.test/", "n=v; Domain=a.test", "https://a.test/", false),
        ("https://a.test/", "n=v; Domain=é.test", "https://a.test/", false),
        ("https://a.test/", "n=v; Domain=", "https://b.a.test/", false),
        // What anyone can register.
        ("https://a.test/", "n=v; Domain=test", "https://a.test/", false),
        ("https://a.test./", "n=v; Domain=test.", "https://b.test./", false),
        ("https://localhost/", "n=v; Domain=localhost", "https://localhost/", true),
        ("https://localhost/", "n=v; Domain=localhost", "https://a.localhost/", false),
        // Addresses.
        ("https://1.2.3.4/", "n=v", "https://1.2.3.4/", true),
        ("https://1.2.3.4/", "n=v; Domain=1.2.3.4", "https://1.2.3.4/", true),
        ("https://1.2.3.4/", "n=v; Domain=2.3.4", "https://9.2.3.4/", false),
        ("https://[::1]/", "n=v", "https://[::1]/", true),
        // Paths.
        ("https://a.test/x/y", "n=v", "https://a.test/x/z", true),
        ("https://a.test/x/y", "n=v", "https://a.test/x", true),
        ("https://a.test/x/y", "n=v", "https://a.test/xy", false),
        ("https://a.test/x/y", "n=v", "https://a.test/", false),
        ("https://a.test", "n=v", "https://a.test/x", true), ("https://a.test/x", "n=v", "https://a.test/y", true),
        ("https://a.test/", "n=v; Path=/x", "https://a.test/x", true),
        ("https://a.test/", "n=v; Path=/x", "https://a.test/x/y?q", true),
        ("https://a.test/", "n=v; Path=/x", "https://a.test/xy", false),
        ("https://a.test/", "n=v; Path=/x/", "https://a.test/x", false),
        ("https://a.test/", "n=v; Path=/x/", "https://a.test/x/", true),
        ("https://a.test/y", "n=v; Path=/X", "https://a.test/x", false),
        // Protection.
        ("https://a.test/", "n=v; Secure", "http://a.test/", false),
        ("https://a.test/", "n=v; Secure", "HTTPS://a.test/", true),
        ("http://a.test/", "n=v; Secure", "https://a.test/", false), ("http://a.test/", "n=v", "https://a.test/", true),
        ("http://localhost/", "n=v; Secure", "http://localhost/", true),
        ("https://a.test/", "n=v; HttpOnly", "https://a.test/", true),
        // Promises.
        ("https://a.test/", "__Secure-n=v; Secure", "https://a.test/", true),
        ("https://a.test/", "__Secure-n=v", "https://a.test/", false),
        ("https://a.test/", "__secure-n=v", "https://a.test/", false),
        ("https://a.test/", "__Host-n=v; Secure; Path=/", "https://a.test/", true),
        ("https://a.test/", "__Host-n=v; Secure", "https://a.test/", false),
        ("https://a.test/", "__Host-n=v; Path=/", "https://a.test/", false),
        ("https://a.test/", "__Host-n=v; Secure; Path=/; Domain=a.test", "https://a.test/", false),
        ("https://a.test/x/", "__HOST-n=v; Secure; Path=/x", "https://a.test/x", false),
        ("https://a.test/", "=__Host-n=v; Secure; Path=/", "https://a.test/", false),
        ("https://a.test/", "__Secure-n; Secure", "https://a.test/", false),
        // Ends.
        ("https://a.test/", "n=v; Max-Age=0", "https://a.test/", false),
        ("https://a.test/", "n=v; Max-Age=1", "https://a.test/", true),
    ])
    func cookieIsSentOnlyWhereAllowed(_ from: String, _ field: String, _ to: String, _ isSent: Bool) {
        // Their clock stands still, so an hour is no different from a second.
        let jar = CookieJar(timers: ManualTimers())
        jar.insert(field, for: Self.request(from))
        #expect(jar.cookies(for: Self.request(to)).count == (isSent ? 1 : 0))
    }

    @Test func requestWithoutHostHasNoCookies() {
        let jar = CookieJar()
        #expect(!jar.insert("n=v", for: HTTPRequest(path: "/")))
        #expect(jar.cookies(for: HTTPRequest(path: "/")).isEmpty)
    }

    /// A redirect may lead to such a place, and the jar is asked before the request is refused.
    @Test func placesThatNoneCanHaveHaveNoCookies() {
        let jar = CookieJar(timers: ManualTimers())
        let long = HTTPRequest(host: String(repeating: "a.", count: 30_000) + "test", path: "/")
        #expect(!jar.insert("n=v", for: long))
        #expect(jar.cookies(for: long).isEmpty)
        let deep = HTTPRequest(host: "a.test", path: "/" + String(repeating: "a/", count: 1_000))
        #expect(!jar.insert("n=v", for: deep))
        #expect(jar.insert("n=v; Path=/", for: deep))
    }

    @Test func longerPathsComeFirstAndThenOlderCookies() {
        let jar = CookieJar()
        let request = Self.request("https://b.a.test/x/y")
        for field in ["1=a", "2=b; Path=/", "3=c; Domain=a.test; Path=/x/y", "4; Path=/x", "5=e; Path=/"] {
            #expect(jar.insert(field, for: request))
        }
        jar.insert("2=new; Path=/", for: request)
        #expect(jar.field(for: request) == "3=c; 1=a; 4; 2=new; 5=e")
        #expect(jar.cookies.map(\.name) == ["1", "2", "3", "", "5"])
    }

    @Test func expiredCookieIsRemoved() {
        let timers = ManualTimers()
        let jar = CookieJar(timers: timers)
        let request = Self.request("https://a.test/")
        #expect(jar.insert("n=v; Max-Age=10", for: request))
        timers.advance(by: .seconds(9))
        #expect(jar.field(for: request) == "n=v")
        timers.advance(by: .seconds(1))
        #expect(jar.field(for: request) == nil && jar.cookies.isEmpty)
    }

    @Test func expiredSetCookieRemovesMatchingCookie() {
        let jar = CookieJar()
        let request = Self.request("https://a.test/")
        jar.insert("n=v", for: request)
        #expect(!jar.insert("n=; Max-Age=0; Path=/x", for: request) && jar.cookies.count == 1)
        #expect(!jar.insert("n=; Max-Age=0; Domain=a.test", for: request) && jar.cookies.count == 1)
        #expect(!jar.insert("n=; Expires=Thu, 01 Jan 1970 00:00:00 GMT", for: request) && jar.cookies.isEmpty)
    }

    /// An attacker on the network path must not add a cookie of the same name as a cookie that it cannot read.
    @Test(arguments: [
        ("http://a.test/", "n=evil", false), ("http://b.a.test/", "n=evil; Domain=a.test", false),
        ("http://a.test/", "n=evil; Path=/x", false), ("http://a.test/", "other=fine", true),
        ("http://x.test/", "n=fine", true), ("https://a.test/", "n=fine", true), ("http://b.a.test/", "n=evil", false),
    ])
    func secureCookieCannotBeShadowedOverHTTP(_ from: String, _ field: String, _ isStored: Bool) {
        let jar = CookieJar()
        jar.insert("n=v; Secure; Domain=a.test; Path=/", for: Self.request("https://a.test/"))
        #expect(jar.insert(field, for: Self.request(from)) == isStored)
    }

    @Test func publicSuffixesFollowGivenList() {
        let list = "// com is one\r\ncom\n\nco.uk  and a remark\n*.ck\n!www.ck\n*.KAWASAKI.jp\n公司.cn\n"
        let suffixes = PublicSuffixes(list: list)
        for name in ["com", "test", "co.uk", "co.uk.", "a.ck", "x.kawasaki.jp"] {
            #expect(suffixes.contains(name), "\(name)")
        }
        for name in ["a.com", "a.co.uk", "www.ck", "b.a.ck", "kawasaki.jp", "b.x.kawasaki.jp", "and.a"] {
            #expect(!suffixes.contains(name), "\(name)")
        }
        let jar = CookieJar(publicSuffixes: suffixes)
        #expect(!jar.insert("n=v; Domain=co.uk", for: Self.request("https://a.co.uk/")))
        #expect(jar.insert("n=v; Domain=a.co.uk", for: Self.request("https://a.co.uk/")))
        // The host itself is one, so that the cookie is for it alone.
        #expect(jar.insert("n=v; Domain=co.uk", for: Self.request("https://co.uk/")))
        #expect(jar.cookies(for: Self.request("https://b.co.uk/")).isEmpty)
    }

    // MARK: Limits

    @Test func domainKeepsAtMostFiftyCookies() {
        let jar = CookieJar(timers: ManualTimers())
        let request = Self.request("https://a.test/")
        jar.insert("kept=v; Secure; Max-Age=60", for: request)
        for number in 0..<80 { jar.insert("n\(number)=v", for: request) }
        jar.insert("other=v", for: Self.request("https://b.test/"))
        #expect(jar.cookies.count == 51)
        #expect(jar.cookies(for: request).map(\.name) == ["kept"] + (31..<80).map { "n\($0)" })
    }

    @Test func recentlyUsedCookieIsKept() {
        let jar = CookieJar()
        let used = Self.request("https://a.test/used")
        jar.insert("kept=v; Path=/used", for: used)
        for number in 0..<200 {
            jar.insert("n\(number)=v; Path=/other", for: used)
            _ = jar.cookies(for: used)
        }
        #expect(jar.cookies.first?.name == "kept")
    }

    @Test func jarDropsOldestCookiesBeyondLimit() {
        let jar = CookieJar()
        for number in 0..<3_010 { jar.insert("n=v", for: Self.request("https://\(number).test/")) }
        #expect(jar.cookies.count == 3_000)
        #expect(jar.cookies.first?.domain == "10.test" && jar.cookies.last?.domain == "3009.test")
    }

    // MARK: Removing

    @Test func removeAllRemovesMatchingCookies() {
        let jar = CookieJar()
        for name in ["a", "b", "c"] { jar.insert("\(name)=v", for: Self.request("https://a.test/")) }
        jar.removeAll { $0.name == "b" }
        #expect(jar.cookies.map(\.name) == ["a", "c"])
        jar.removeAll()
        #expect(jar.cookies.isEmpty)
    }

    @Test func descriptionsHaveNoValues() {
        let jar = CookieJar()
        jar.insert("name=geheim; Domain=a.test; Path=/x", for: Self.request("https://a.test/"))
        jar.insert("geheim", for: Self.request("https://b.test/"))
        var dumped = ""
        dump(jar, to: &dumped)
        for cookie in jar.cookies { dump(cookie, to: &dumped) }
        let texts = ["\(jar)", String(reflecting: jar), "\(jar.cookies)", dumped, "\(KeepCookies(in: jar))"]
        for text in texts { #expect(!text.contains("geheim"), "\(text)") }
        #expect("\(jar)" == "CookieJar(2 cookies of 2 domains)")
        #expect(jar.cookies.first.map { "\($0)" } == "name=<redacted> for *.a.test/x")
    }
}
