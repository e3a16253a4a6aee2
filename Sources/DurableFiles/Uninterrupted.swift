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

/// Writes all bytes to a descriptor and returns whether that succeeded.
package func writeAll(_ bytes: [UInt8], to number: CInt) -> Bool {
    bytes.withUnsafeBytes { buffer in
        var rest = buffer[...]
        while !rest.isEmpty {
            let (count, code) = uninterrupted {
                write(number, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            }
            if count < 0, code == EAGAIN {
                // Another process that shares the descriptor has made it non-blocking.
                var wait = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
                _ = poll(&wait, 1, -1)
                continue
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
