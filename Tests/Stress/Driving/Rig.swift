import LoaderChain

/// A chain, and what is done with it.
struct Rig: Sendable {
    let chain: HTTPLoader
    /// What the next task of a thread is to load.
    var request: @Sendable (_ number: Int, inout SeededGenerator) -> HTTPRequest = { number, _ in
        HTTPRequest(host: "stress.test", path: "/\(number % 101)")
    }
    /// How often a thread meddles with some task after each that it loads.
    var meddling = 1
    /// After how many tasks of a thread there is a reset; where one lets nothing pass meanwhile, it is a larger number.
    var tasksPerReset: UInt64 = 4_096
    /// Changes settings, or looks at what can be looked at.
    var change: @Sendable (inout SeededGenerator) -> Void
    /// Lets through whatever still waits, when all tasks are loaded.
    var open: @Sendable () -> Void = {}
    /// What is still in flight when all is over; nil for nothing.
    var remains: @Sendable () -> String? = { nil }
}

extension Rig {
    /// A chain at which there is nothing to change but to look.
    init(_ chain: HTTPLoader) {
        self.init(chain: chain) { [unowned chain] _ in _ = chain.description }
    }
}
