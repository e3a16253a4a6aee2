// Type-checked against stand-ins; unverified, since it has not run on an Apple system yet.
#if !canImport(FoundationNetworking)
    import Foundation
    import LoaderChain

    extension TransferPhases {
        /// The phases of one request, as the session has measured them.
        init(_ metrics: URLSessionTaskTransactionMetrics) {
            self.init(
                queue: Self.time(
                    from: metrics.fetchStartDate,
                    to: metrics.domainLookupStartDate ?? metrics.connectStartDate ?? metrics.requestStartDate),
                nameLookup: Self.time(from: metrics.domainLookupStartDate, to: metrics.domainLookupEndDate),
                // The session counts the time of TLS as a part of the connection's.
                connect: Self.time(
                    from: metrics.connectStartDate, to: metrics.secureConnectionStartDate ?? metrics.connectEndDate),
                secureConnection: Self.time(
                    from: metrics.secureConnectionStartDate, to: metrics.secureConnectionEndDate),
                sending: Self.time(from: metrics.requestStartDate, to: metrics.requestEndDate),
                waiting: Self.time(from: metrics.requestEndDate, to: metrics.responseStartDate),
                receiving: Self.time(from: metrics.responseStartDate, to: metrics.responseEndDate))
        }

        private static func time(from start: Date?, to end: Date?) -> Duration? {
            guard let start, let end else { return nil }
            // The wall clock may be set meanwhile.
            return .seconds(min(max(0, end.timeIntervalSince(start)), 365 * 86_400))
        }
    }
#endif
