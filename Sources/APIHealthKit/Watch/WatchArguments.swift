import Foundation
import LoaderChain

struct WatchArguments: Sendable {
    var endpoints: [WatchedEndpoint] = []
    var interval: Duration = .seconds(5)
    var expected = StatusSet.success
    var timeout: Duration = .seconds(10)
    var concurrency = 16
    var retries = 0
    /// How often each endpoint is checked; nil for no limit.
    var count: Int?
    var stores = StoreArguments()
    var conditions = FailConditions()
    var isQuiet = false
    var showsPhases = false
    var form = OutputForm.screen

    init() {}

    static let syntax = Syntax(
        command: "watch", summary: "Checks endpoints at an interval, and reports whether they are healthy.",
        operands: ("URL…", 1...1_000),
        options: [
            .init("every", "TIME", "The interval between the checks of an endpoint; 5s by default."),
            .init("count", "N", "How often to check each endpoint; until stopped by default."),
            .init("once", "The same as --count 1, for example for cron."),
            .init("expect", "STATUS", "The healthy statuses: 200, 200,204, 2xx or 200-299; 2xx by default."),
            .init("timeout", "TIME", "How long a check may take, including retries; 10s by default."),
            .init("retries", "N", "How often to retry a check that failed, whatever its method; 0 by default."),
            .init("concurrency", "N", "How many checks may run at once; 16 by default."),
            .init("method", "NAME", "The method; GET by default."),
            .init(
                "header", "NAME: VALUE", repeats: true,
                "A header for every request. Other users of the machine can see arguments."),
            .init("bearer-env", "NAME", "Send the token in this environment variable as a bearer."),
            FailConditions.option,
            .init("quiet", "Print only changes, and the summary."),
            .init("phases", "Print lines, with the phases of each request as far as the system reports them."),
            .init("plain", "Print lines, even on a terminal."),
            .init("json", "Print one JSON object at the end."),
        ] + StoreArguments.options,
        notes: [
            "Ctrl-C and SIGTERM end it; all metrics are written, and a summary is printed. Times are written",
            "500ms, 5s, 2m, 1h. Redirects are followed unless --expect names such a status. A failed check is a failure,",
            "unless --fail-if has a condition on errors.",
        ])

    init(_ list: ArgumentList) throws(ProgramError) {
        try list.forbid("once", with: "count")
        if let interval = try list.duration("every", in: .milliseconds(10)...(.seconds(86_400))) {
            self.interval = interval
        }
        if let timeout = try list.duration("timeout", in: .milliseconds(1)...(.seconds(3_600))) {
            self.timeout = timeout
        }
        concurrency = try list.integer("concurrency", in: 1...1_000) ?? concurrency
        retries = try list.integer("retries", in: 0...20) ?? retries
        count = list.has("once") ? 1 : try list.integer("count", in: 1...Int.max)
        if let text = list.text("expect") {
            guard let expected = StatusSet(text) else {
                throw list.wrong("expect", text, "a status such as 200, 200,204, 2xx or 200-299")
            }
            self.expected = expected
        }
        stores = try StoreArguments(list)
        conditions = try FailConditions(list)
        isQuiet = list.has("quiet")
        showsPhases = list.has("phases")
        try list.forbid("phases", with: "quiet")
        try list.forbid("phases", with: "json")
        form = showsPhases ? .lines : try OutputForm(list)
        let method = try Self.method(list)
        let headers = try Self.headers(list)
        for text in list.operands {
            endpoints.append(try WatchedEndpoint(text, method: method, headers: headers))
        }
        nameApart()
    }

    /// Numbers the addresses that look the same without their secrets.
    private mutating func nameApart() {
        let counts = Dictionary(grouping: endpoints, by: \.name).mapValues(\.count)
        var seen: [String: Int] = [:]
        for index in endpoints.indices where counts[endpoints[index].name, default: 1] > 1 {
            let name = endpoints[index].name
            seen[name, default: 0] += 1
            endpoints[index].name = "\(name) (\(seen[name, default: 1]))"
        }
    }

    private static func method(_ list: ArgumentList) throws(ProgramError) -> HTTPMethod {
        guard let text = list.text("method") else { return .get }
        guard !text.isEmpty, text.utf8.allSatisfy(ASCIISet.token.contains) else {
            throw list.wrong("method", text, "a method such as GET or HEAD")
        }
        return HTTPMethod(text.uppercased())
    }

    private static func headers(_ list: ArgumentList) throws(ProgramError) -> HTTPHeaders {
        var headers: HTTPHeaders = ["User-Agent": "apihealth"]
        for text in list.texts("header") {
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts[0].trimmingCharacters(in: .whitespaces)
            guard parts.count == 2, !name.isEmpty, name.utf8.allSatisfy(ASCIISet.token.contains),
                !text.unicodeScalars.contains(where: { $0.value < 0x20 && $0 != "\t" })
            else {
                // The value may be a secret, so the message does not repeat it.
                throw ProgramError(.usage, "a --header cannot be understood; give it as “Name: value”")
            }
            headers[name] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        if let token = try list.secret("bearer-env") { headers["Authorization"] = "Bearer \(token)" }
        return headers
    }
}

struct WatchedEndpoint: Sendable {
    let request: HTTPRequest
    /// The address without anything that could be secret.
    fileprivate(set) var name: String

    init(_ text: String, method: HTTPMethod = .get, headers: HTTPHeaders = [:]) throws(ProgramError) {
        func wrong(_ advice: String) -> ProgramError {
            // The query and what is before an at sign may be secret.
            let shown = text.prefix { $0 != "?" && $0 != "#" }
            let end = shown.lastIndex(of: "@").map { shown[shown.index(after: $0)...] } ?? shown
            return ProgramError(.usage, "“\(Plain.text(String(end)))” is not a valid address; \(advice)")
        }
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased() else {
            throw wrong("give a URL such as https://api.example.com/health")
        }
        guard ["http", "https"].contains(scheme) else { throw wrong("it must begin with http:// or https://") }
        guard let host = url.host(), !host.isEmpty else { throw wrong("it needs a host") }
        guard url.user() == nil, url.password() == nil else {
            throw wrong("give credentials with --header, not in the address")
        }
        request = HTTPRequest(method: method, url: url, headers: headers)
        name = Plain.text(request.loggableURL)
    }
}

/// The statuses that a check accepts: `200`, `200,204`, `2xx` or `200-299`.
struct StatusSet: Hashable, Sendable, CustomStringConvertible {
    private let ranges: [ClosedRange<Int>]
    let description: String

    /// Parses a list; nil if one of its parts is invalid.
    init?(_ text: String) {
        var ranges: [ClosedRange<Int>] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let range = Self.range(part.lowercased()) else { return nil }
            ranges.append(range)
        }
        self.ranges = ranges
        description = text.lowercased()
    }

    static let success = StatusSet(ranges: [200...299], description: "2xx")

    private init(ranges: [ClosedRange<Int>], description: String) {
        self.ranges = ranges
        self.description = description
    }

    func contains(_ status: HTTPStatus) -> Bool { ranges.contains { $0.contains(status.rawValue) } }

    /// Whether a redirect may be expected, and therefore must not be followed.
    var wantsRedirects: Bool { ranges.contains { $0.overlaps(300...399) } }

    private static func range(_ text: String) -> ClosedRange<Int>? {
        if text.count == 3, text.hasSuffix("xx"), let hundreds = text.first?.wholeNumberValue,
            (1...5).contains(hundreds)
        {
            return hundreds * 100...hundreds * 100 + 99
        }
        let bounds = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false).map(status)
        guard let first = bounds[0], let last = bounds[bounds.count - 1], first <= last else { return nil }
        return first...last
    }

    private static func status(_ text: Substring) -> Int? {
        guard text.count == 3, text.utf8.allSatisfy(ASCII.isDigit), let number = Int(text), number >= 100 else {
            return nil
        }
        return number
    }
}
