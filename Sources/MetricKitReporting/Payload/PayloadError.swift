import LoaderChainPlatformFoundation

/// The reason why a payload cannot be read.
///
/// The bytes are not lost: ``MetricKitReport`` keeps them, and they can be submitted as they are.
public struct PayloadError: Error, Sendable, Hashable {
    /// The kind of the error.
    public enum Code: String, Sendable, Hashable {
        /// The bytes are not JSON, or are incomplete.
        case notJSON
        /// The bytes are JSON, but not a payload of the requested kind.
        case notAPayload
        /// The payload exceeds a limit.
        ///
        /// The limits are 64 MiB of text, 4,194,304 values, and 65,536 nested objects and arrays; 16,384 diagnostics,
        /// and as many leftovers.
        case tooLarge
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
            self.init(code: .tooLarge, reason: "This is larger than any payload: \(problem).")
        } else {
            self.init(code: .notJSON, reason: "This is not valid JSON: \(problem).")
        }
    }

    static var tooManyLeftovers: PayloadError {
        PayloadError(
            code: .tooLarge,
            reason: "This is larger than any payload: more than \(JSONLimits.kept) of its values belong nowhere.")
    }
}

extension PayloadError: CustomStringConvertible {
    /// What is wrong, and where.
    public var description: String { reason }
}

extension PayloadError: LocalizedError {
    /// What is wrong, where, and what to do about it.
    public var errorDescription: String? {
        let advice =
            switch code {
            case .notJSON: "Pass all bytes of `jsonRepresentation()`, as they came."
            case .notAPayload: "Read what can be of any kind with `MetricKitReport`."
            case .tooLarge: "Keep the bytes, and find out what wrote them."
            }
        return "\(reason) \(advice)"
    }
}

/// A piece of JSON from a payload.
public struct RawJSON: Sendable, Hashable {
    /// The bytes, for your own decoder.
    public let data: Data

    init(_ bytes: some Sequence<UInt8>) { data = Data(bytes) }
}

extension RawJSON: CustomStringConvertible {
    /// The JSON as text.
    public var description: String { String(decoding: data, as: UTF8.self) }
}

/// A value of a payload that is not in the model.
public struct Leftover: Sendable, Hashable {
    /// The reason why it is left over.
    public enum Reason: String, Sendable, Hashable {
        /// The model does not know it.
        case unknown
        /// It is not of the expected form, or it is ambiguous.
        case notUnderstood
    }

    /// The path of keys to it, such as `memoryMetrics.peakMemoryUsage`.
    public let path: String
    /// The reason why it is left over.
    public let reason: Reason
    /// The value.
    public let json: RawJSON
}

/// The kind of a payload, which its keys tell.
enum PayloadKind {
    case metrics, diagnostics

    /// The key of the one diagnostic of a report of iOS 27.
    static let resultKey = "result"

    /// The kind of an object; nil if it has none of a payload's keys.
    init?(_ root: JSONNode) {
        var (hasMetrics, hasTime, hasEmptySection) = (false, false, false)
        for (key, value) in root.members {
            guard let name = key.text else { continue }
            let isSection = DiagnosticSection(rawValue: name) != nil
            if isSection && value.elements.first(where: { _ in true }) != nil
                || name == Self.resultKey && value.kind == .object
            {
                self = .diagnostics
                return
            }
            hasEmptySection = hasEmptySection || isSection
            hasMetrics = hasMetrics || Self.metricKeys.contains(name) || name.hasSuffix("Metrics")
            hasTime = hasTime || Self.timeKeys.contains(name)
        }
        // An empty section of diagnostics beside metrics takes nothing from them.
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

/// The sections of diagnostics in a payload.
enum DiagnosticSection: String {
    case crash = "crashDiagnostics"
    case hang = "hangDiagnostics"
    case cpuException = "cpuExceptionDiagnostics"
    case diskWriteException = "diskWriteExceptionDiagnostics"
    case appLaunch = "appLaunchDiagnostics"

    /// The section for a kind as reports of iOS 27 name it.
    init?(result: String) { self.init(rawValue: result + "Diagnostics") }
}

extension JSONDocument {
    /// Reads the text of a payload.
    convenience init(payload data: Data) throws(PayloadError) {
        do throws(JSONProblem) {
            let limit = JSONLimits.standard.bytes
            // Before anything is copied.
            guard data.count <= limit else { throw JSONProblem(reason: .tooLong, offset: limit) }
            try self.init([UInt8](data))
        } catch {
            throw PayloadError(error)
        }
    }
}
