import LoaderChain

/// What speaks against sending much through the network that there is.
public struct NetworkConditions: OptionSet, Hashable, Sendable {
    /// The conditions, as bits.
    public let rawValue: UInt8

    /// Makes a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Its bytes cost the user money, as of a mobile network or a personal hotspot.
    public static let metered = NetworkConditions(rawValue: 1)
    /// The user wants little of it to be used, as in Low Data Mode.
    public static let constrained = NetworkConditions(rawValue: 2)
}

extension OutboxSettings {
    /// The least priority of the reports that are sent under some conditions.
    func leastPriority(under conditions: NetworkConditions) -> ReportPriority {
        max(
            conditions.contains(.metered) ? leastPriorityWhenMetered : .low,
            conditions.contains(.constrained) ? leastPriorityWhenConstrained : .low)
    }

    /// The networks that a report may use, for terminals that can tell them apart.
    func networks(for priority: ReportPriority) -> NetworkAccess {
        var access = NetworkAccess.all
        if priority < leastPriorityWhenMetered { access.subtract([.cellular, .expensive]) }
        if priority < leastPriorityWhenConstrained { access.remove(.constrained) }
        return access
    }
}
