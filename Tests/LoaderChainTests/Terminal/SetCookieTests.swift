import LoaderChainPlatformFoundation
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct SetCookieTests {
    static let now = Date(timeIntervalSince1970: 1_000_000)

    static func read(_ text: String) -> SetCookie? { SetCookie(text, now: now, serverDate: now) }

    @Test(arguments: [
        ("a=b", "a", "b"), ("  a\t =  b c  ", "a", "b c"), ("a=b=c", "a", "b=c"), ("a=", "a", ""), ("=b", "", "b"),
        ("b", "", "b"), ("a=\"b\"; Path=/", "a", "\"b\""), ("a=b,c=d", "a", "b,c=d"), ("a=b;", "a", "b"),
        ("a=b;;;=;x=y; =z", "a", "b"), ("ä=ö", "ä", "ö"), ("a\tb=c", "a\tb", "c"),
    ])
    func namesAndValuesAreTrimmedButNotDecoded(_ text: String, _ name: String, _ value: String) {
        let cookie = Self.read(text)
        #expect(cookie?.name == name)
        #expect(cookie?.value.value == value)
        #expect(cookie?.expiry == nil && cookie?.domain == "" && cookie?.sameSite == nil)
        #expect(cookie?.isSecure == false && cookie?.isHTTPOnly == false)
    }

    @Test(arguments: ["", " ", "=", " = ; Path=/", ";a=b", "a=b\u{0}", "a\u{7F}=b", "a=b; Path=/\r", "a=b\nc=d"])
    func invalidFieldIsIgnored(_ text: String) { #expect(Self.read(text) == nil) }

    /// A clock of this machine that is an hour ahead would end a cookie of half an hour at once.
    @Test func expiryIsByTheServersClock() {
        let serverDate = Self.now.addingTimeInterval(-3_600)
        let expires = HTTPDate.text(serverDate.addingTimeInterval(1_800))
        let cookie = SetCookie("a=b; Expires=\(expires)", now: Self.now, serverDate: serverDate)
        #expect(cookie?.expiry == Self.now.addingTimeInterval(1_800))
    }

    @Test func pairBeyondLimitIsRejected() {
        let name = String(repeating: "n", count: 96)
        #expect(Self.read("\(name)=\(String(repeating: "v", count: 4000))") != nil)
        #expect(Self.read("\(name)=\(String(repeating: "v", count: 4001))") == nil)
        #expect(Self.read("\(name)=\(String(repeating: "é", count: 2001))") == nil)
    }

    @Test func overlongAttributeIsIgnored() {
        let long = String(repeating: "x", count: 1023)
        #expect(Self.read("a=b; Path=/\(long)")?.path == "/\(long)")
        #expect(Self.read("a=b; Path=/\(long)x")?.path == nil)
        #expect(Self.read("a=b; Path=/y; Path=/\(long)x")?.path == "/y")
    }

    @Test func attributesAreRead() {
        let cookie = Self.read("a=b; SECURE; httponly=x; Domain=.A.Example; Path=/x y; SameSite=LAX; Other=1")
        #expect(cookie?.isSecure == true && cookie?.isHTTPOnly == true)
        #expect(cookie?.domain == "a.example" && cookie?.path == "/x y" && cookie?.sameSite == .lax)
        #expect(Self.read("a=b; samesite=none")?.sameSite == .unrestricted)
        #expect(Self.read("a=b; samesite=Strict")?.sameSite == .strict)
        #expect(Self.read("a=b; samesite=Strict; samesite=other")?.sameSite == nil)
    }

    @Test(arguments: [
        ("Domain=", ""), ("Domain=.", ""), ("Domain=..a", ".a"), ("Domain=a; Domain=b", "b"), ("Domain", ""),
        ("Domain=a; Domain=", ""),
    ])
    func lastDomainCounts(_ attributes: String, _ domain: String) {
        #expect(Self.read("a=b; \(attributes)")?.domain == domain)
    }

    @Test(arguments: [("Path=", nil), ("Path=x", nil), ("Path=/x; Path=y", nil), ("Path=/x; Path=/y", "/y")])
    func lastPathCounts(_ attributes: String, _ path: String?) {
        #expect(Self.read("a=b; \(attributes)")?.path == path)
    }

    /// Seconds from now on.
    @Test(
        arguments: [
            ("Max-Age=60", 60), ("Max-Age=0", 0), ("Max-Age=-5", -5), ("Max-Age=34560000", 34_560_000),
            ("Max-Age=34560001", 34_560_000), ("Max-Age=\(String(repeating: "9", count: 400))", 34_560_000),
            ("Max-Age=60; Max-Age=70", 70), ("Max-Age=60; Max-Age=x", 60), ("Max-Age=", nil), ("Max-Age=+5", nil),
            ("Max-Age=5 ", 5), ("Max-Age=5x", nil), ("Max-Age=-", nil), ("Max-Age=--5", nil), ("Max-Age=٥", nil),
            ("Expires=Mon, 12 Jan 1970 13:46:50 GMT", 10), ("Expires=Thu, 01 Jan 1970 00:00:00 GMT", -1_000_000),
            ("Expires=never", nil), ("Expires=Fri, 31 Dec 9999 23:59:59 GMT", 34_560_000),
            ("Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", 60),
            ("Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60", 60),
            ("Max-Age=x; Expires=Mon, 12 Jan 1970 13:46:50 GMT", 10),
        ] as [(String, Double?)])
    func maxAgeTakesPrecedenceOverExpires(_ attributes: String, _ seconds: Double?) {
        #expect(Self.read("a=b; \(attributes)")?.expiry == seconds.map { Self.now.addingTimeInterval($0) })
    }

    @Test func damagedFieldsDoNotTrap() {
        var random = SeededGenerator(seed: 3)
        let pieces = [
            "a", "=", ";", " ", "Max-Age", "Expires", "-", "9", "Domain", ".", "/", "Path", ",", "é", "\t", ":", "Jan",
        ]
        for _ in 0..<2_000 {
            let text = (0..<Int.random(in: 0...12, using: &random)).map { _ in pieces.randomElement(using: &random)! }
            _ = Self.read(text.joined())
            _ = CookieDate.date(text.joined())
        }
    }
}

/// Dates as cookies have them.
@Suite(.timeLimit(.minutes(10))) struct CookieDateTests {
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "06 nov 94 8:49:37", "1994 6 November 08:49:37", "08:49:37 1994 Nov 6", "Sun/06/NOVxyz/1994/08:49:37/PST",
        "6th Nov 1994AD 08:49:37.500 +0100", "06 Nov 1994 08:49:37 07 Dec 1995 09:00:00", "xx 06 Nov 94 08:49:37x",
    ])
    func partsAreFoundInAnyOrder(_ text: String) {
        #expect(CookieDate.date(text)?.timeIntervalSince1970 == 784_111_777)
    }

    @Test(arguments: [
        "", "06 Nov 1994", "Nov 1994 08:49:37", "06 1994 08:49:37", "06 Nov 08:49:37", "32 Nov 1994 08:49:37",
        "00 Nov 1994 08:49:37", "31 Nov 1994 08:49:37", "06 Nov 1600 08:49:37", "06 Nov 1994 24:00:00",
        "06 Nov 1994 08:60:00", "06 Nov 1994 08:49:60", "06 Nov 1994 08:49", "006 Nov 1994 08:49:37",
        "06 Nov 19941 08:49:37", "06 No 1994 08:49:37", "06 Nov 1994 008:49:37", "29 Feb 1900 00:00:00",
    ])
    func invalidDateIsRejected(_ text: String) { #expect(CookieDate.date(text) == nil) }

    @Test(arguments: [
        ("70", 0), ("69", 3_124_224_000), ("00", 946_684_800), ("99", 915_148_800), ("1601", -11_644_473_600),
    ])
    func twoDigitYearsMeanYearsFrom1970To2069(_ year: String, _ seconds: Double) {
        #expect(CookieDate.date("01 Jan \(year) 00:00:00")?.timeIntervalSince1970 == seconds)
    }
}
