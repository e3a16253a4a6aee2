/// The parts of the matrix, each a table of the page.
package enum MatrixGroup: String, CaseIterable, Sendable {
    case statuses, methods, redirects, paths, hosts, fields, heads, lengths, codings, timeouts, failures, tls, proxies

    /// The cases of the group, in the order of the page.
    package var cases: [MatrixCase] {
        switch self {
        case .statuses: MatrixCase.statuses
        case .methods: MatrixCase.methods
        case .redirects: MatrixCase.redirects
        case .paths: MatrixCase.paths
        case .hosts: MatrixCase.hosts
        case .fields: MatrixCase.fields
        case .heads: MatrixCase.heads
        case .lengths: MatrixCase.lengths
        case .codings: MatrixCase.codings
        case .timeouts: MatrixCase.timeouts
        case .failures: MatrixCase.failures
        case .tls: MatrixCase.tls
        case .proxies: MatrixCase.proxies
        }
    }
}
