import LoaderChainPlatformFoundation

/// The reason why a payload cannot be read.
///
/// The bytes are not lost: ``MetricKitReport`` keeps them, and they can be submitted unchanged.
public struct PayloadError: Error, Sendable, Hashable {
    /// The kind of the error; there may be more kinds in the future.
    public struct Code: Hashable, Sendable, RawRepresentable, CustomStringConvertible {
        /// The name of the kind.
        public let rawValue: String

        /// Makes a kind of this name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The name of the kind.
        public var description: String { rawValue }

        /// The bytes are not JSON, or are incomplete.
        public static let notJSON = Code(rawValue: "notJSON")
        /// The bytes are JSON, but not a payload of the requested kind.
        public static let notAPayload = Code(rawValue: "notAPayload")
        /// The payload exceeds a limit.
        ///
        /// The limits are 64 MiB of text, 4,194,304 values, and 65,536 nested objects and arrays; 16,384 diagnostics,
        /// and 16,384 leftovers.
        public static let tooLarge = Code(rawValue: "tooLarge")
    }

    /// The kind of the error.
    public let code: Code
    /// What is wrong, and where.
    public let reason: String

    init(code: Code, reason: String) {
        self.code = code
        self.reason = reason
    }

    init(_ problem: JSONProblem) {
        if problem.reason.isLimit {
            self.init(code: .tooLarge, reason: "The payload is too large: \(problem).")
        } else {
            self.init(code: .notJSON, reason: "The payload is not valid JSON: \(problem).")
        }
    }

    static var tooManyLeftovers: PayloadError {
        PayloadError(
            code: .tooLarge,
            reason: "The payload is too large: more than \(JSONLimits.kept) of its values are not in the model.")
    }
}

extension PayloadError: CustomStringConvertible {
    /// What is wrong, and where.
    public var description: String { reason }
}

extension PayloadError: LocalizedError {
    /// The problem, its place, and its remedy.
    public var errorDescription: String? {
        let advice =
            switch code {
            case .notJSON: "Pass the complete bytes of `jsonRepresentation()`."
            case .notAPayload: "Use `MetricKitReport` for payloads of any kind."
            default: "Keep the bytes, and find out which program wrote them."
            }
        return "\(reason) \(advice)"
    }
}

/// A piece of JSON from a payload.
public struct RawJSON: Sendable, Hashable {
    /// The bytes, for a decoder of your own.
    public let data: Data

    init(_ bytes: some Sequence<UInt8>) { data = Data(bytes) }
}

extension RawJSON: CustomStringConvertible {
    /// The JSON as text.
    public var description: String { String(decoding: data, as: UTF8.self) }
}

/// A value of a payload that is not in the model.
public struct Leftover: Sendable, Hashable {
    /// The reason why a value is left over.
    public enum Reason: String, Sendable, Hashable {
        /// The value is not in the model.
        case unknown
        /// The value does not have the expected form, or is ambiguous.
        case notUnderstood
    }

    /// The key path of the value, such as `memoryMetrics.peakMemoryUsage`.
    public let path: String
    /// The reason why a value is left over.
    public let reason: Reason
    /// The value.
    public let json: RawJSON
}

/// The kind of a payload, determined by its keys.
enum PayloadKind {
    case metrics, diagnostics

    /// The key of the diagnostic in a report of iOS 27, which has only one.
    static let resultKey = "result"

    /// Determines the kind of an object; nil if it has none of a payload's keys.
    init?(_ root: JSONNode) {
        var (hasMetrics, hasTime, hasEmptySection) = (false, false, false)
        for (key, value) in root.members {
            guard let name = key.text else { continue }
            let isSection = DiagnosticSection.isName(name)
            if isSection && value.kind == .array && !value.isEmpty
                || name == Self.resultKey && value.kind == .object
            {
                self = .diagnostics
                return
            }
            hasEmptySection = hasEmptySection || isSection
            hasMetrics = hasMetrics || Self.metricKeys.contains(name) || name.hasSuffix("Metrics")
            hasTime = hasTime || Self.timeKeys.contains(name)
        }
        // A payload with metrics and an empty section of diagnostics is a payload of metrics.
        if hasEmptySection, !hasMetrics {
            self = .diagnostics
        } else if hasMetrics || hasTime {
            self = .metrics
        } else {
            return nil
        }
    }

    private static let metricKeys: Set = ["appVersion", "metaData", "intervalEntries", "signpostMetrics"]
    private static let timeKeys: Set = ["timeStampBegin", "timeStampEnd", "timeRange"]
}

enum DiagnosticSection: String {
    case crash = "crashDiagnostics"
    case hang = "hangDiagnostics"
    case cpuException = "cpuExceptionDiagnostics"
    case diskWriteException = "diskWriteExceptionDiagnostics"
    case appLaunch = "appLaunchDiagnostics"

    private static let suffix = "Diagnostics"

    /// Whether a key is the name of a section, also of one for a kind that later systems add.
    static func isName(_ key: String) -> Bool { key.hasSuffix(suffix) }

    /// The section for a kind as named in reports of iOS 27.
    init?(result: String) { self.init(rawValue: result + Self.suffix) }
}

extension JSONDocument {
    convenience init(payload data: Data) throws(PayloadError) {
        do throws(JSONProblem) {
            let limit = JSONLimits.standard.bytes
            // Checked before anything is copied.
            guard data.count <= limit else { throw JSONProblem(reason: .tooLong, offset: limit) }
            try self.init([UInt8](data))
        } catch {
            throw PayloadError(error)
        }
    }
}
