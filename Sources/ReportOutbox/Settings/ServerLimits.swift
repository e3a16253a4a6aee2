import LoaderChain

/// What a response says of how long a server wants no reports, or none of some kinds.
///
///     60:transaction:key, 2700:error;session:organization
///
/// Each part has the seconds, then the kinds, of which none stands for all of them; what follows is of no interest here.
struct ServerLimits: Equatable {
    /// How long it wants no reports at all; zero if it takes some.
    var all = Duration.zero
    /// How long it wants none of a kind.
    var kinds: [ReportKind: Duration] = [:]

    /// More is not read of a header.
    private static let mostBytes = 8_192
    static let mostKinds = 64
    /// What seconds count as that cannot be read.
    private static let standard = Duration.seconds(60)

    /// The limits of a response; nil if it says nothing of them.
    ///
    /// - Parameter maximum: what no wait is longer than.
    init?(_ response: HTTPResponse?, header: String?, maximum: Duration) {
        guard let header, let values = response?.headers.values(for: header), !values.isEmpty else { return nil }
        for part in values.joined(separator: ",").utf8.prefix(Self.mostBytes).split(separator: UInt8(ascii: ",")) {
            let fields = part.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
                .map { String(decoding: $0, as: UTF8.self).filter { $0 != " " } }
            let seconds = Int64(fields[0]).map { Duration.seconds(min(max(0, $0), Int64(Int32.max))) }
            let delay = min(seconds ?? Self.standard, maximum)
            let names = fields.count > 1 ? fields[1].split(separator: ";") : []
            if names.isEmpty { all = max(all, delay) }
            for name in names {
                let kind = ReportKind(String(name))
                guard kinds[kind] != nil || kinds.count < Self.mostKinds else { continue }
                kinds[kind] = max(kinds[kind] ?? .zero, delay)
            }
        }
    }
}
