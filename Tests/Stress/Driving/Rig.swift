import LoaderChain

/// A chain, and what to do with it.
struct Rig: Sendable {
    let chain: HTTPLoader
    /// The next request of a thread.
    var request: @Sendable (_ number: Int, inout SeededGenerator) -> HTTPRequest = { number, _ in
        HTTPRequest(host: "stress.test", path: "/\(number % 101)")
    }
    /// How often a thread meddles with some task after each one that it loads.
    var meddling = 1
    /// After how many tasks of a thread the chain is reset; larger for chains that let nothing pass during a reset.
    var tasksPerReset: UInt64 = 4_096
    /// Changes settings, or reads descriptions.
    var change: @Sendable (inout SeededGenerator) -> Void
    /// Lets all waiting tasks pass, when all tasks are loaded.
    var open: @Sendable () -> Void = {}
    /// What is still in flight at the end; nil for nothing.
    var remains: @Sendable () -> String? = { nil }
}

extension Rig {
    /// A chain without settings to change.
    init(_ chain: HTTPLoader) {
        self.init(chain: chain) { [unowned chain] _ in _ = chain.description }
    }
}
