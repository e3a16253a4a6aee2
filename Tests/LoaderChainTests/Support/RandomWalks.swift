import TestSizes
import Testing

/// Takes random walks, each with a seed of its own, until one says what went wrong.
func takeWalks(seeds: Range<UInt64> = 0..<10_000, _ walk: (_ seed: UInt64) -> String?) {
    if let fault = firstFault(seeds: testSample(seeds), walk) { Issue.record("\(fault)") }
}

/// Takes one of ten groups of a thousand walks, which threads may take at the same time.
func takeWalks(group: UInt64, _ walk: (_ seed: UInt64) -> String?) {
    takeWalks(seeds: (group * 1_000)..<(group * 1_000 + 1_000), walk)
}

/// The first fault with the seed that leads there; nil, or an empty text, is none.
func firstFault(seeds: some Sequence<UInt64>, _ walk: (_ seed: UInt64) -> String?) -> String? {
    for seed in seeds {
        if let fault = walk(seed), !fault.isEmpty { return "seed \(seed): \(fault)" }
    }
    return nil
}
