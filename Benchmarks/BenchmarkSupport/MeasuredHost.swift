import LoaderChainPlatformC
import LoaderChainPlatformFoundation

/// The machine on which results were measured.
package struct MeasuredHost: Codable, Equatable {
    var cpu: String
    var cores: Int
    var os: String
    var swift: String
    var date: String

    package static func current() -> MeasuredHost {
        #if canImport(Darwin)
            let cpu = systemControl("machdep.cpu.brand_string")
            let os: String? = "macOS " + ProcessInfo.processInfo.operatingSystemVersionString
        #else
            let cpu = contents(of: "/proc/cpuinfo").flatMap { value(of: "model name", separator: ":", in: $0) }
            let os = contents(of: "/etc/os-release").flatMap { value(of: "PRETTY_NAME", separator: "=", in: $0) }
        #endif
        return MeasuredHost(
            cpu: cpu ?? "unknown processor", cores: ProcessInfo.processInfo.activeProcessorCount,
            os: os ?? "unknown system", swift: compiler, date: Date.now.formatted(.iso8601))
    }

    /// The machine and the date, as a sentence for a document.
    var sentence: String {
        "Measured on \(date.prefix { $0 != "T" }): \(cpu), \(cores) cores, \(os), Swift \(swift)."
    }

    /// Finds the value of a key in lines of `key separator value`, without spaces and quotes around it.
    static func value(of key: String, separator: Character, in text: String) -> String? {
        for line in text.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: separator, maxSplits: 1)
            guard parts.count == 2, trimmed(parts[0]) == key else { continue }
            return trimmed(parts[1])
        }
        return nil
    }

    private static func trimmed(_ text: Substring) -> String {
        func isEdge(_ character: Character) -> Bool { character.isWhitespace || character == "\"" }
        return String(text.drop(while: isEdge).reversed().drop(while: isEdge).reversed())
    }

    private static func contents(of path: String) -> String? {
        try? String(contentsOfFile: path, encoding: .utf8)
    }

    #if canImport(Darwin)
        private static func systemControl(_ name: String) -> String? {
            var size = 0
            guard sysctlbyname(name, nil, &size, nil, 0) == 0, size > 0 else { return nil }
            var bytes = [UInt8](repeating: 0, count: size)
            guard sysctlbyname(name, &bytes, &size, nil, 0) == 0 else { return nil }
            return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    #endif

    /// Found by conditional compilation, because the compiler's version is not available at run time.
    private static var compiler: String {
        #if compiler(>=6.5)
            "6.5 or later"
        #elseif compiler(>=6.4)
            "6.4"
        #elseif compiler(>=6.3)
            "6.3"
        #elseif compiler(>=6.2)
            "6.2"
        #elseif compiler(>=6.1)
            "6.1"
        #else
            "6.0"
        #endif
    }
}
