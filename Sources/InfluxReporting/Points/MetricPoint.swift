import LineProtocol
import LoaderChain
import LoaderChainPlatformFoundation

/// Encodes measured requests, events and traces as points.
///
/// The names are those in the guide's table, and must not change: otherwise a query would not find old and new points together.
package enum MetricPoint {
    package static let requests = "APIHealth"
    static let events = "AppEvent"
    static let traces = "AppTrace"

    /// Appends the line of a record; `nudge` is a number of nanoseconds that distinguishes points with the same start; see ``TimeNudge``.
    package static func append(_ record: MetricRecord, nudge: Int64, to encoder: inout LineEncoder) {
        switch record {
        case .request(let metric): append(metric, nudge, &encoder)
        case .event(let event): append(event, nudge, &encoder)
        case .trace(let trace): append(trace, nudge, &encoder)
        }
    }

    // MARK: Requests

    private static func append(_ metric: HTTPMetric, _ nudge: Int64, _ encoder: inout LineEncoder) {
        encoder.append(requests, timestamp: TimeNudge.timestamp(metric.start, nudge)) { tags in
            // In the order of the keys, which is the fastest.
            tags.set("error", ifAny: metric.outcome.errorType)
            tags.set("host", ifAny: metric.host)
            tags.set("loader", ifAny: metric.outcome.refuser)
            tags.set("method", ifAny: metric.method.rawValue)
            tags.set("module", ifAny: metric.module)
            tags.set("origin", ifAny: metric.origin)
            tags.set("outcome", metric.outcome.kind.name)
            tags.set("path", ifAny: metric.route)
            if let port = metric.port { tags.set("port", port) }
            tags.set("scheme", ifAny: metric.scheme)
            if let status = metric.status { tags.set("status", status.rawValue) }
            tags.set(metric.tags, except: requestNames)
        } fields: { fields in
            fields.set("attempts", metric.attempts)
            if let bytes = metric.bytesReceived { fields.set("bytes_received", bytes) }
            if let bytes = metric.bytesSent { fields.set("bytes_sent", bytes) }
            fields.set("duration", metric.duration / .seconds(1))
            if let failed = metric.outcome.kind.failures { fields.set("failed", failed) }
            if let time = metric.timeToFirstByte { fields.set("first_byte", time / .seconds(1)) }
            if let name = metric.networkProtocol { fields.set("protocol", name) }
            fields.set(samplingRate: metric.samplingRate)
            fields.set("waiting", metric.waiting / .seconds(1))
        }
    }

    /// The tags and fields that describe a request; a user's tag with one of these names is omitted.
    ///
    /// Some servers refuse a tag that has the name of a field, also if these are in different points.
    private static let requestNames: Set<String> = [
        "attempts", "bytes_received", "bytes_sent", "duration", "error", "failed", "first_byte", "host", "loader",
        "method", "module", "origin", "outcome", "path", "port", "protocol", samplingRateField, "scheme", "status",
        "waiting",
    ]

    // MARK: Events and traces

    private static let nameTag = "name"
    private static let countField = "count"
    private static let durationField = "duration"
    fileprivate static let samplingRateField = "sampling_rate"
    /// The tags and fields that every event may have; a user's attribute or counter with one of these names is omitted.
    private static let eventNames: Set<String> = [nameTag, countField, samplingRateField]
    /// The tags and fields that every trace may have.
    private static let traceNames: Set<String> = [nameTag, durationField, samplingRateField]

    private static func append(_ event: MetricEvent, _ nudge: Int64, _ encoder: inout LineEncoder) {
        encoder.append(events, timestamp: TimeNudge.timestamp(event.date, nudge)) { tags in
            tags.set(nameTag, ifAny: event.name)
            tags.set(event.attributes, except: eventNames, event.counters)
        } fields: { fields in
            fields.set(countField, 1)
            fields.set(samplingRate: event.samplingRate)
            fields.set(event.counters, except: eventNames)
        }
    }

    private static func append(_ trace: MetricTrace, _ nudge: Int64, _ encoder: inout LineEncoder) {
        encoder.append(traces, timestamp: TimeNudge.timestamp(trace.start, nudge)) { tags in
            tags.set(nameTag, ifAny: trace.name)
            tags.set(trace.attributes, except: traceNames, trace.counters)
        } fields: { fields in
            fields.set(durationField, trace.duration / .seconds(1))
            fields.set(samplingRate: trace.samplingRate)
            fields.set(trace.counters, except: traceNames)
        }
    }
}

/// Distinguishes points that have the same date.
///
/// To a server, two points with the same tags and the same timestamp are one point. A date has a resolution of a quarter of a
/// microsecond, and some clocks are coarser, so the writer adds less than a microsecond, differently each time.
package enum TimeNudge {
    static let range: UInt64 = 1_000

    package static func of(_ number: UInt64) -> Int64 { Int64(number % range) }

    static func timestamp(_ date: Date, _ nudge: Int64) -> Timestamp {
        Timestamp(nanoseconds: Timestamp(date).nanoseconds.addingClamped(nudge))
    }
}

extension TagWriter {
    fileprivate mutating func set(_ key: String, ifAny value: String?) {
        if let value, !value.isEmpty { set(key, value) }
    }

    /// Sets tags, except those that have a reserved name or that of a counter.
    fileprivate mutating func set(
        _ tags: [String: String], except reserved: Set<String>, _ counters: [String: Int64] = [:]
    ) {
        for (key, value) in tags where !key.isEmpty && !reserved.contains(key) && counters[key] == nil {
            set(key, ifAny: value)
        }
    }
}

extension FieldWriter {
    fileprivate mutating func set(_ counters: [String: Int64], except reserved: Set<String>) {
        // In order, so that equal points are equal lines.
        for (key, value) in counters.sorted(by: { $0.key < $1.key }) where !key.isEmpty && !reserved.contains(key) {
            set(key, value)
        }
    }

    /// Sets the sampling rate, unless it is 1.
    fileprivate mutating func set(samplingRate rate: Double) {
        if rate != 1 { set(MetricPoint.samplingRateField, rate) }
    }
}

extension HTTPMetric.Outcome.Kind {
    /// 1 for a failure and 0 for a success, so that the mean is the failure ratio; nil for outcomes that count as neither.
    fileprivate var failures: Int? { isJudged ? isError ? 1 : 0 : nil }
}

extension HTTPMetric.Outcome {
    /// The loader that rejected the request.
    fileprivate var refuser: String? {
        if case .rejected(_, let loader) = self { loader } else { nil }
    }
}

extension HTTPMetric.Outcome.Kind {
    /// The value of the tag `outcome`.
    package var name: String {
        switch self {
        case .success: "success"
        case .redirection: "redirection"
        case .clientError: "client-error"
        case .serverError: "server-error"
        case .failed: "failed"
        case .cancelled: "cancelled"
        case .reset: "reset"
        case .unparsable: "unparsable"
        case .rejected: "rejected"
        }
    }
}
