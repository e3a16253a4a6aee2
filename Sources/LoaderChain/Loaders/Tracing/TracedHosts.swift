/// The hosts that learn which trace a request belongs to.
///
/// ```swift
/// let hosts: TracedHosts = ["api.example.com", "*.internal.example.com"]
/// ```
///
/// A name matches itself, in any case and on any port; a name that begins with `*.` matches every name below it. Other
/// servers would learn which requests belong together, and could read the baggage.
public struct TracedHosts: Hashable, Sendable, ExpressibleByArrayLiteral {
    let patterns: HostPatterns

    private init(_ patterns: HostPatterns) { self.patterns = patterns }

    /// The hosts with these names.
    public init(_ names: some Sequence<String>) { self.init(HostPatterns(names)) }

    /// The hosts with these names.
    public init(arrayLiteral names: String...) { self.init(names) }

    /// All hosts; for chains that never load an address from another source.
    public static let all = TracedHosts(.all)
}
