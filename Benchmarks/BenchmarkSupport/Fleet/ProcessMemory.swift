import LoaderChainPlatformC
import LoaderChainPlatformFoundation

/// The memory of this process, if the system reports it.
struct ProcessMemory: Sendable {
    /// The current memory, in bytes.
    var now: @Sendable () -> Int?
    /// The peak since the last call of ``forget``.
    var peak: @Sendable () -> Int?
    /// Returns free memory to the system, and resets the peak.
    var forget: @Sendable () -> Void

    /// The process itself, on Linux.
    static let own = ProcessMemory(
        now: { status("VmRSS") }, peak: { status("VmHWM") },
        forget: {
            trim()
            // Writing "5" resets the peak.
            try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
        })

    private static func trim() {
        #if canImport(Glibc)
            // The module does not include the header that declares it.
            guard let symbol = dlsym(nil, "malloc_trim") else { return }
            let trim = unsafeBitCast(symbol, to: (@convention(c) (Int) -> CInt).self)
            _ = trim(0)
        #endif
    }

    private static func status(_ key: String) -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        return bytes(of: key, in: text)
    }

    /// Finds a line such as `VmRSS:  1024 kB`.
    static func bytes(of key: String, in status: String) -> Int? {
        guard let value = MeasuredHost.value(of: key, separator: ":", in: status),
            let kibibytes = value.split(separator: " ").first.flatMap({ Int($0) })
        else { return nil }
        return kibibytes * 1_024
    }
}
