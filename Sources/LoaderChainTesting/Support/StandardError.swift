#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Where a process reports what it cannot report in any other way.
package enum StandardError {
    /// Writes a text at once, as far as the system takes it.
    package static func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { bytes in
                #if canImport(Darwin)
                    Darwin.write(STDERR_FILENO, bytes.baseAddress, bytes.count)
                #elseif canImport(Glibc)
                    Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count)
                #else
                    Musl.write(STDERR_FILENO, bytes.baseAddress, bytes.count)
                #endif
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
