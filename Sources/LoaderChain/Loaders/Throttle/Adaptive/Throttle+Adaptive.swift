extension Throttle {
    /// What a throttle has found out about its limits, at one instant.
    public struct Findings: Hashable, Sendable {
        /// About all hosts together; nil unless that limit is adaptive.
        public var total: AdaptiveLimit.Status?
        /// About each host, named as in ``Snapshot/hosts``; empty unless those limits are adaptive.
        public var hosts: [String: AdaptiveLimit.Status]
    }

    /// What the throttle has found out about its adaptive limits.
    ///
    /// ```swift
    /// if let status = throttle.findings.total { print(status.limit, status.reason?.rawValue ?? "") }
    /// ```
    public var findings: Findings {
        Findings(total: finders?.total?.status, hosts: finders?.statusOfHosts ?? [:])
    }
}
