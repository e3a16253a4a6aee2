/// A list of hosts: names in any case, and names that begin with `*.` for every name below.
struct HostPatterns: Hashable, Sendable {
    /// The names in lower case; nil for all hosts.
    private let names: [String]?

    /// The hosts with these names.
    init(_ names: some Sequence<String>) { self.names = names.map { $0.lowercased() } }

    private init() { names = nil }

    /// All hosts, also one that is not known yet.
    static let all = HostPatterns()

    /// Whether a host is in the list.
    func contain(_ host: String?) -> Bool {
        guard let names else { return true }
        guard let host = host?.lowercased() else { return false }
        return names.contains { name in
            guard name.hasPrefix("*.") else { return name == host }
            let suffix = name.dropFirst()
            return host.hasSuffix(suffix) && host.utf8.count > suffix.utf8.count
        }
    }
}
