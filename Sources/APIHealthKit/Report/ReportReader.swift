import DurableFiles
import Foundation
import InfluxReporting
import LineProtocol
import LoaderChain
import LoaderChainGzip

/// Reads files of line protocol in pieces, so that their size does not matter.
enum ReportReader {
    static func read(
        _ input: ReportInput, precision: Precision, into model: inout ReportModel, progress: ReportProgress? = nil
    ) throws(ProgramError) {
        var decoder = LineDecoder(precision: precision)
        let name = input.name
        try input.read { piece, position, length in
            decoder.decode(piece) { take($0, name, &model) }
            progress?.show(name, position, of: length)
        }
        decoder.finish { take($0, name, &model) }
    }

    static func read(_ path: String, precision: Precision, into model: inout ReportModel) throws(ProgramError) {
        try read(ReportInput(path), precision: precision, into: &model)
    }

    private static func take(
        _ result: Result<Point, LineDecodingError>, _ name: String, _ model: inout ReportModel
    ) {
        switch result {
        case .success(let point): model.note(point)
        case .failure(let error): model.note(error, in: name)
        }
    }
}

/// A file, a pipe or standard input, of plain text or compressed by gzip, which can be read several times: what is not a regular file is
/// copied while it is read for the first time, to a file without a name.
final class ReportInput {
    /// The name for messages.
    let name: String
    private let path: String
    /// The descriptor of the copy; nil before there is one.
    private var copy: CInt?

    private static var pieceLength: Int { 1 << 16 }

    /// Makes an input of the file at a path; a dash is standard input.
    init(_ path: String) {
        self.path = path
        name = path == "-" ? "standard input" : Plain.text(path)
    }

    deinit { if let copy { close(copy) } }

    private struct Source {
        let number: CInt
        /// Where the text begins, because others may have read a part of standard input; nil for a pipe.
        var start: off_t?
        var length: Int64?
        let isOwned: Bool
    }

    private func source() throws(ProgramError) -> Source {
        if let copy { return Source(number: copy, start: 0, length: Int64(lseek(copy, 0, SEEK_END)), isOwned: false) }
        var (number, code) = (STDIN_FILENO, CInt(0))
        if path != "-" { (number, code) = uninterrupted { open(path, O_RDONLY | O_CLOEXEC) } }
        guard number >= 0 else { throw failure(code, "check the path") }
        var source = Source(number: number, isOwned: path != "-")
        var status = stat()
        if fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
            source.start = lseek(number, 0, SEEK_CUR)
            source.length = Int64(status.st_size)
        }
        return source
    }

    /// Hands over the text piece by piece, with the number of bytes that were read so far, and of all if that is known.
    func read(_ pass: (ArraySlice<UInt8>, Int64, Int64?) -> Void) throws(ProgramError) {
        let source = try source()
        defer { if source.isOwned { close(source.number) } }
        if source.start == nil { copy = try newFile() }
        var gzip: GzipDecoder?
        var position: Int64 = 0
        var buffer = [UInt8](repeating: 0, count: Self.pieceLength)
        while true {
            var count = try next(&buffer, from: source, at: position)
            if count == 0 { break }
            if position == 0, count == 1 {
                // Two bytes tell what the file is, and a pipe may bring them one by one.
                var second = [UInt8](repeating: 0, count: Self.pieceLength - 1)
                let more = try next(&second, from: source, at: 1)
                buffer.replaceSubrange(1..<1 + more, with: second[..<more])
                count += more
            }
            let piece = buffer[..<count]
            if position == 0, piece.starts(with: [0x1F, 0x8B]) { gzip = GzipDecoder() }
            position += Int64(count)
            guard let gzip else {
                pass(piece, position, source.length)
                continue
            }
            do throws(GzipDecoder.Fault) {
                try gzip.decode(piece) {
                    pass($0, position, source.length)
                    return true
                }
            } catch {
                let advice = error == .damaged ? "its gzip data is damaged" : "zlib is missing; decompress it first"
                throw ProgramError(.failure, "\(name) cannot be read: \(advice)")
            }
        }
        guard gzip?.isComplete != false else {
            throw ProgramError(.failure, "\(name) cannot be read: its gzip data ends too early")
        }
    }

    /// Reads the next bytes, and returns how many there are.
    private func next(_ buffer: inout [UInt8], from source: Source, at position: Int64) throws(ProgramError) -> Int {
        let (count, code) = buffer.withUnsafeMutableBytes { buffer in
            uninterrupted {
                source.start.map { pread(source.number, buffer.baseAddress, buffer.count, $0 + off_t(position)) }
                    ?? systemRead(source.number, buffer.baseAddress, buffer.count)
            }
        }
        guard count >= 0 else { throw failure(code, "give a file of line protocol") }
        if source.start == nil, let copy, writeAll(Array(buffer[..<count]), to: copy) != nil { throw noCopy }
        return count
    }

    /// Opens a new temporary file, which has no name any more.
    private func newFile() throws(ProgramError) -> CInt {
        let folder = FileManager.default.temporaryDirectory.path(percentEncoded: false)
        var path = Array((folder + "/apihealth-XXXXXX").utf8CString)
        let number = mkstemp(&path)
        guard number >= 0 else { throw noCopy }
        unlink(path)
        return number
    }

    private var noCopy: ProgramError {
        ProgramError(.failure, "\(name) cannot be copied to a temporary file; give a file")
    }

    private func failure(_ code: CInt, _ advice: String) -> ProgramError {
        ProgramError(.failure, "\(name) cannot be read: \(SystemText.of(code)); \(advice)")
    }
}

/// Shows on a terminal how far reading has come.
final class ReportProgress {
    private let surroundings: Surroundings
    private var last: TimerInstant

    /// Fails if the errors go to no terminal that can move its cursor.
    init?(_ surroundings: Surroundings) {
        guard surroundings.errors.isTerminal, surroundings.environment["TERM"] != "dumb" else { return nil }
        self.surroundings = surroundings
        last = surroundings.timers.now
    }

    private static var interval: Duration { .milliseconds(100) }

    fileprivate func show(_ name: String, _ position: Int64, of length: Int64?) {
        let now = surroundings.timers.now
        guard last.duration(to: now) >= Self.interval, !surroundings.errors.isInBackground else { return }
        last = now
        surroundings.errors.write(
            "\r" + Self.text(name, position, of: length, columns: surroundings.errors.width) + Escape.clearLine)
    }

    static func text(_ name: String, _ position: Int64, of length: Int64?, columns: Int) -> String {
        let share = length.map { NumberText.percent(Int(min(position, $0)), of: Int($0)) }
        let part = share ?? "\(NumberText.count(Int(position >> 20))) MB"
        return Plain.fit("Reading \(name): \(part)", to: columns - 1)
    }

    func end() { surroundings.errors.write("\r" + Escape.clearLine) }
}

/// `read(2)`, whose name a method hides.
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
            host: Self.brief(Self.host(point.tags)), method: Self.brief(point.tags["method"] ?? ""),
            route: Self.brief(point.tags["path"] ?? ""), duration: .seconds(1) * seconds, kind: kind, time: time)
    }

    /// The beginning of a name, since names are kept for the page, and a hostile file has long ones.
    private static func brief(_ name: String) -> String {
        name.utf8.count <= 1_024 ? name : String(decoding: name.utf8.prefix(1_023), as: UTF8.self) + "…"
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
