import LoaderChainPlatformC

/// Lets this process end at once when it traps, for the child of a test that expects that.
///
/// If stacks are printed, that takes half a minute beside other tests, and threads of the tests wait for it.
package func trapWithoutBacktrace() {
    for number in [SIGILL, SIGTRAP] { signal(number, SIG_DFL) }
}
