import LoaderChainPlatformC

/// Calls the system, again for as long as a signal interrupts it, and answers with the error's number as well.
///
/// The number means something only next to an answer that says that the call failed.
package func uninterrupted<Answer: SignedInteger>(_ call: () -> Answer) -> (answer: Answer, code: CInt) {
    while true {
        let answer = call()
        let code = errno
        if answer != -1 || code != EINTR { return (answer, code) }
    }
}
