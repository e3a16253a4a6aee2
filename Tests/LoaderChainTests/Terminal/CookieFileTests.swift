import DurableFiles
import LoaderChainPlatformFoundation
import LoaderChainTesting
import Testing

@testable import LoaderChain

/// Jars with a file.
@Suite(.timeLimit(.minutes(10))) struct CookieFileTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "cookies-\(UUID().uuidString)/deep")
    private var file: URL { folder.appending(path: "cookies.json") }
    private let request = HTTPRequest(url: URL(string: "https://b.a.test/x/y")!)

    private func clean() { try? FileManager.default.removeItem(at: folder.deletingLastPathComponent()) }

    @Test func cookiesWithExpiryAreSavedAndRestored() throws {
        defer { clean() }
        let jar = try CookieJar(file: file)
        let fields = [
            "a=1; Max-Age=1000; Path=/x; Secure; HttpOnly; SameSite=Lax", "b=\"2 \\ é\"; Max-Age=1000; Domain=a.test",
            "; Max-Age=5", "d=geheim", "=5; Max-Age=1000", "e=6; Max-Age=1000", "e=; Max-Age=0",
        ]
        for field in fields { jar.insert(field, for: request) }
        let lasting = jar.cookies.filter { $0.expiry != nil }
        #expect(lasting.map(\.name) == ["a", "b", ""])
        try jar.save()
        let again = try CookieJar(file: file)
        // Dates are kept to the microsecond.
        #expect(again.cookies.map(\.pair) == lasting.map(\.pair))
        #expect(
            again.cookies.map(\.domain) == lasting.map(\.domain) && again.cookies.map(\.path) == lasting.map(\.path))
        #expect(
            again.cookies.map(\.isSecure) == [true, false, false]
                && again.cookies.map(\.isHTTPOnly) == [true, false, false])
        #expect(again.cookies.map(\.sameSite) == [.lax, nil, nil])
        #expect(again.cookies.map(\.includesSubdomains) == [false, true, false])
        let ages = zip(again.cookies, lasting).map { $0.expiry!.timeIntervalSince($1.expiry!) }
        #expect(ages.allSatisfy { abs($0) < 0.001 })
        #expect(
            again.field(for: request) == "a=1; 5; b=\"2 \\ é\"" || again.field(for: request) == "a=1; b=\"2 \\ é\"; 5")
    }

    @Test func defaultPathWithSemicolonRoundTrips() throws {
        defer { clean() }
        let jar = try CookieJar(file: file)
        jar.insert("a=1; Max-Age=1000", for: HTTPRequest(url: URL(string: "https://a.test/x;v=1/y")!))
        try jar.save()
        #expect(try CookieJar(file: file).cookies.map(\.path) == ["/x;v=1"])
    }

    @Test func fileIsReadableByOwnerOnly() throws {
        defer { clean() }
        let jar = try CookieJar(file: file)
        jar.insert("a=1; Max-Age=1000", for: request)
        try jar.save()
        for (path, mode) in [(file, 0o600), (folder, 0o700)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: path.path(percentEncoded: false))
            #expect(attributes[.posixPermissions].map { "\($0)" } == "\(mode)")
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false)) == ["cookies.json"])
    }

    @Test func changesAreWrittenTogetherAfterDelay() throws {
        defer { clean() }
        let timers = ManualTimers()
        let jar = try CookieJar(file: file, timers: timers)
        jar.insert("session=1", for: request)
        #expect(timers.pendingCount == 0)
        for number in 0..<5 { jar.insert("n\(number)=1; Max-Age=1000", for: request) }
        #expect(timers.pendingCount == 1)
        #expect(try CookieJar(file: file).cookies.isEmpty)
        timers.advance(by: .seconds(1))
        // Saving waits for what the timer began.
        try jar.save()
        #expect(try CookieJar(file: file, timers: timers).cookies.count == 5)
        jar.removeAll { $0.name == "n1" }
        #expect(timers.pendingCount == 1)
        jar.removeAll { $0.name == "session" }
        jar.removeAll()
        try jar.save()
        #expect(try CookieJar(file: file, timers: timers).cookies.isEmpty)
        timers.runAll()
    }

    @Test func expiredCookiesAreNotRead() throws {
        defer { clean() }
        let timers = ManualTimers()
        let jar = try CookieJar(file: file, timers: timers)
        jar.insert("a=1; Max-Age=10", for: request)
        try jar.save()
        timers.advance(by: .seconds(10))
        let later = try CookieJar(file: file, timers: timers)
        #expect(later.cookies.isEmpty)
        // A sign-out leaves no value in the file, not even of cookies that have expired.
        later.removeAll()
        try later.save()
        #expect(try !String(contentsOf: file, encoding: .utf8).contains("\"a\""))
        timers.runAll()
    }

    @Test(arguments: [
        "", "x", "[]", "{}", #"{"version":2,"cookies":[]}"#, #"{"version":1}"#,
        #"{"version":1,"cookies":{}}"#,
    ])
    func fileOfUnknownFormatIsRejectedAndKept(_ text: String) throws {
        defer { clean() }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        let error = #expect(throws: CookieJar.Failure.self) { try CookieJar(file: file) }
        #expect(error?.reason.contains("cookies.json holds no cookies") == true)
        #expect(try Data(contentsOf: file) == Data(text.utf8))
    }

    @Test(arguments: [
        #"{"name":"a"}"#, "7", "null", "[]", item(value: #"1\r\nX: y"#), item(value: "1; b=2"), item(path: "x"),
        item(domain: ""), item(expires: "1e999"), item(name: String(repeating: "n", count: 4096)),
    ])
    func damagedCookieIsLeftOutAndFileIsCopied(_ damaged: String) throws {
        defer { clean() }
        let text = Self.file(Self.item(expires: "99999999999"), damaged, Self.item(name: "m", expires: "99999999999"))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        let jar = try CookieJar(file: file)
        #expect(jar.cookies.map(\.pair) == ["n=1", "m=1"])
        let reason = try #require(jar.damage?.reason)
        #expect(reason.contains("3 cookies") && reason.contains("1 could not be read"))
        #expect(reason.hasSuffix("cookies.json.damaged"))
        let copy = folder.appending(path: "cookies.json.damaged")
        #expect(try Data(contentsOf: copy) == Data(text.utf8))
        let attributes = try FileManager.default.attributesOfItem(atPath: copy.path(percentEncoded: false))
        #expect(attributes[.posixPermissions].map { "\($0)" } == "\(0o600)")
        // A process that saves nothing makes no second copy, and one that does has a whole file.
        _ = try CookieJar(file: file)
        #expect(try files() == ["cookies.json", "cookies.json.damaged"])
        try jar.save()
        let again = try CookieJar(file: file)
        #expect(again.damage == nil && again.cookies.map(\.pair) == ["n=1", "m=1"])
        #expect(try Data(contentsOf: copy) == Data(text.utf8))
        again.removeAll()
        try again.save()
        #expect(try files() == ["cookies.json"])
    }

    /// The only one that has what the damage has left.
    @Test func damagedFileThatCannotBeCopiedIsNotUsed() throws {
        defer { clean() }
        let (text, copy) = (Self.file("7"), folder.appending(path: "cookies.json.damaged"))
        try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        let error = #expect(throws: CookieJar.Failure.self) { try CookieJar(file: file) }
        #expect(error?.reason.contains("cookies.json has damaged cookies, and a copy of it could not be ") == true)
        #expect(try Data(contentsOf: file) == Data(text.utf8))
    }

    private func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false)).sorted()
    }

    static func file(_ items: String...) -> String {
        #"{"version":1,"cookies":["# + items.joined(separator: ",") + "]}"
    }

    static func item(
        name: String = "n", value: String = "1", domain: String = "a.test", path: String = "/", expires: String = "1e9"
    ) -> String {
        """
        {"name":"\(name)","value":"\(value)","domain":"\(domain)","path":"\(path)","expires":\(expires),\
        "includesSubdomains":false,"isHTTPOnly":false,"isSecure":false}
        """
    }

    @Test func fileOfVersionOneIsRead() throws {
        defer { clean() }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(Self.file(Self.item(expires: "99999999999")).utf8).write(to: file)
        #expect(try CookieJar(file: file).cookies.map(\.pair) == ["n=1"])
    }

    @Test func urlThatNamesNoFileIsRejected() {
        for url in ["https://a.test/x", "file:///", "file:///tmp/"] {
            #expect(throws: CookieJar.Failure.self) { try CookieJar(file: URL(string: url)!) }
        }
    }

    @Test func saveFailureIsReportedAndNextSaveRetries() throws {
        defer { clean() }
        // Their clock stands still, so only `save` writes.
        let timers = ManualTimers()
        let jar = try CookieJar(file: file, timers: timers)
        jar.insert("a=geheim; Max-Age=1000", for: request)
        let path = folder.path(percentEncoded: false)
        try FileManager.default.createDirectory(
            at: folder.appending(path: "cookies.json/x"), withIntermediateDirectories: true)
        let error = #expect(throws: CookieJar.Failure.self) { try jar.save() }
        #expect(error == jar.failure && error?.reason.contains("geheim") == false)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["cookies.json"])
        try FileManager.default.removeItem(at: file)
        try jar.save()
        #expect(jar.failure == nil)
        #expect(try CookieJar(file: file, timers: timers).cookies.count == 1)
        // The timer keeps the jar.
        timers.runAll()
    }
}
