#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#endif

/// How much memory this process holds, where the system tells.
struct ProcessMemory: Sendable {
    /// What it holds now, in bytes.
    var now: @Sendable () -> Int?
    /// What it has held at most since the last call of ``forget``.
    var peak: @Sendable () -> Int?
    /// Gives what is free back to the system, and forgets the peak.
    var forget: @Sendable () -> Void

    /// The process itself, on Linux.
    static let own = ProcessMemory(
        now: { status("VmRSS") }, peak: { status("VmHWM") },
        forget: {
            trim()
            // "5" is the kernel's word for the peak.
            try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
        })

    private static func trim() {
        #if canImport(Glibc)
            // The header it is declared in is not part of the module.
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
