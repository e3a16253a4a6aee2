import DurableFiles
import Foundation
import InfluxReporting
import LineProtocol
import LoaderChain

/// Reads files of line protocol in pieces, so that their size does not matter.
enum ReportReader {
    private static var pieceLength: Int { 1 << 16 }

    static func read(_ path: String, precision: Precision, into model: inout ReportModel) throws(ProgramError) {
        let (number, code) = uninterrupted { open(path, O_RDONLY | O_CLOEXEC) }
        guard number >= 0 else { throw failure(path, code, "check the path") }
        defer { close(number) }
        var decoder = LineDecoder(precision: precision)
        var piece = [UInt8](repeating: 0, count: pieceLength)
        let name = Plain.text(path)
        while true {
            let (count, code) = piece.withUnsafeMutableBytes { buffer in
                uninterrupted { systemRead(number, buffer.baseAddress, buffer.count) }
            }
            guard count >= 0 else { throw failure(path, code, "give a file of line protocol") }
            if count == 0 { break }
            decoder.decode(piece[..<count]) { take($0, name, &model) }
        }
        decoder.finish { take($0, name, &model) }
    }

    private static func take(
        _ result: Result<Point, LineDecodingError>, _ name: String, _ model: inout ReportModel
    ) {
        switch result {
        case .success(let point): model.note(point)
        case .failure(let error): model.note(error, in: name)
        }
    }

    private static func failure(_ path: String, _ code: CInt, _ advice: String) -> ProgramError {
        ProgramError(.failure, "\(Plain.text(path)) cannot be read: \(SystemText.of(code)); \(advice)")
    }
}

/// `read(2)`, whose name the method above hides.
private func systemRead(_ number: CInt, _ address: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(number, address, count)
}

/// A request as a report needs it, read from its point.
struct RequestSample: Sendable {
    var host: String
    var method: String
    var route: String
    var duration: Duration
    var kind: HTTPMetric.Outcome.Kind
    /// The start in nanoseconds since 1970.
    var time: Int64
}

extension RequestSample {
    /// Reads a point; nil if it is not a request or is incomplete.
    init?(_ point: Point) {
        guard point.measurement == MetricPoint.requests, let time = point.timestamp?.nanoseconds,
            let seconds = point.fields["duration"]?.number, seconds >= 0, seconds < 1e9,
            let kind = HTTPMetric.Outcome.Kind.allCases.first(where: { $0.name == point.tags["outcome"] })
        else { return nil }
        self.init(
            host: Self.host(point.tags), method: point.tags["method"] ?? "",
            route: point.tags["path"] ?? "", duration: .seconds(1) * seconds, kind: kind, time: time)
    }

    /// The host, with its port unless that is the scheme's default.
    private static func host(_ tags: Tags) -> String {
        let host = tags["host"] ?? ""
        switch (tags["scheme"], tags["port"]) {
        case (_, nil), ("https", "443"), ("http", "80"): return host
        case (_, let port?): return "\(host):\(port)"
        }
    }
}

extension FieldValue {
    fileprivate var number: Double? {
        switch self {
        case .double(let value): value
        case .float(let value): Double(value)
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .boolean, .string: nil
        }
    }
}
