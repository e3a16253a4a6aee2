import LoaderChainPlatformFoundation

/// How often a test repeats what it does, or how many elements it uses.
///
/// For a long run by hand, the environment says another number under the name. For a build in which everything takes many
/// times as long, `TEST_SHARE=10` asks all tests for a tenth. A debug build does a quarter unless it is asked for another
/// share, since it takes several times as long as a release build, which does everything.
public func testSize(_ name: String? = nil, usually usual: Int, atLeast least: Int = 1) -> Int {
    if let number = name.flatMap(number(named:)) { return number }
    return max(min(least, usual), usual / share)
}

/// All elements or, if the share is a tenth, one in ten.
public func testSample<Elements: Collection>(_ elements: Elements) -> [Elements.Element] {
    elements.enumerated().compactMap { $0.offset.isMultiple(of: share) ? $0.element : nil }
}

private let share = max(1, number(named: "TEST_SHARE") ?? usualShare)

#if DEBUG
    private let usualShare = 4
#else
    private let usualShare = 1
#endif

private func number(named name: String) -> Int? {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
}
