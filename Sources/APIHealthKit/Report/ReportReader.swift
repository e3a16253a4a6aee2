import DurableFiles
import Foundation
import LineProtocol
import LoaderChain

/// Reads files of line protocol in pieces, so that their size does not matter.
enum ReportReader {
    private static var pieceLength: Int { 1 << 16 }

    /// Whether a file has the same again when it is read once more; a pipe has not.
    static func canReadAgain(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

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
