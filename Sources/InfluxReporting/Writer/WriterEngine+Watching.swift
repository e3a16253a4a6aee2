import LineProtocol

/// The statistics of a writer.
extension WriterEngine {
    var statistics: WriterStatistics {
        var statistics = shared.withLock { shared in
            var statistics = shared.statistics
            statistics.held =
                shared.batching.queue.points + shared.batching.inFlight.values.reduce(0) { $0 + $1.points }
            statistics.heldBytes = shared.batching.heldRoom
            return statistics
        }
        // Stripes one by one: a point may move from one to the state meanwhile, and be counted twice or not at all.
        for stripe in stripes {
            stripe.withLock { stripe in
                statistics.accepted += stripe.accepted
                statistics.held += stripe.block?.points ?? 0
                statistics.repairs += stripe.allRepairs
            }
        }
        return statistics
    }
}
