// MetricKit: the command `metrickit`. Depends on the folders below the commands; only Program uses it.

import Foundation
import MetricKitReporting

/// Prints MetricKit payloads for people.
struct MetricKitCommand: Sendable {
    let arguments: MetricKitArguments
    let surroundings: Surroundings

    /// Reads one file after the other; a file that cannot be read, or is not a payload, is reported and does not stop the others.
    func run() -> ProgramStatus {
        let style = Style(isColoured: surroundings.mayColour)
        var payloads: [MetricPayload] = []
        var status = ProgramStatus.success
        for file in arguments.files {
            guard let data = data(of: file) else {
                complain("\(file) cannot be read; give a file with a payload of MetricKit")
                status = .failure
                continue
            }
            let report = MetricKitReport(data)
            if case .metrics(let payload) = report { payloads.append(payload) }
            if case .unreadable(_, let error) = report {
                complain("\(file): \(error)")
                status = .failure
                continue
            }
            guard !arguments.isTogether else { continue }
            if arguments.files.count > 1 { surroundings.output.write(style.paint(Plain.text(file), .strong) + "\n") }
            surroundings.output.write(lines: PayloadView.lines(report) + [""])
        }
        if payloads.count > 1 || arguments.isTogether && !payloads.isEmpty {
            surroundings.output.write(style.paint("All payloads together", .strong) + "\n")
            surroundings.output.write(lines: PayloadView.lines(over: payloads))
        }
        return status
    }

    private func complain(_ text: String) { surroundings.errors.write("apihealth: \(Plain.text(text))\n") }

    private func data(of file: String) -> Data? {
        do {
            let handle =
                file == "-" ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(filePath: file))
            var data = Data()
            // A device or a pipe may have no end, and a payload that is too large is refused by the reader.
            while data.count <= Self.largestPayload, let more = try handle.read(upToCount: 1 << 20), !more.isEmpty {
                data += more
            }
            return data
        } catch {
            return nil
        }
    }

    /// As many bytes as the reader of payloads takes.
    private static var largestPayload: Int { 64 << 20 }
}

struct MetricKitArguments: Sendable {
    var files: [String] = []
    /// Whether to print only the averages of all payloads.
    var isTogether = false

    static let syntax = Syntax(
        command: "metrickit", summary: "Prints what MetricKit payloads contain.",
        operands: ("FILE…", 1...10_000),
        options: [.init("together", "Print only the averages over all payloads, by version of the app.")],
        notes: [
            "A FILE has a payload's jsonRepresentation(), from any system since iOS 13; - is standard input.",
            "After several payloads, the averages over all of them are printed.",
        ])

    init(_ list: ArgumentList) {
        files = list.operands
        isTogether = list.has("together")
    }
}
