import Foundation
import LoaderChain

@testable import APIHealthKit

/// Keeps what a program writes.
final class Written: Sendable {
    private let parts = Locked("")

    var text: String { parts.withLock(\.self) }

    var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }

    func output(isTerminal: Bool = false, columns: Int = 120, rows: Int = 40) -> Output {
        Output(isTerminal: isTerminal, size: { (columns, rows) }) { [parts] text in parts.withLock { $0 += text } }
    }
}

/// A program in surroundings of a test's.
struct TestProgram {
    let written = Written()
    let complaints = Written()
    var surroundings: Surroundings

    init(environment: [String: String] = [:], isTerminal: Bool = false, timers: any Timers = SystemTimers.shared) {
        surroundings = Surroundings(
            environment: environment, output: written.output(isTerminal: isTerminal), errors: complaints.output(),
            timers: timers)
    }

    func run(_ arguments: String...) async -> ProgramStatus {
        await Program(in: surroundings).run(arguments)
    }
}

/// A folder of a test's own, gone with it.
final class TestFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "apihealth-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appending(path: name).path(percentEncoded: false) }

    func text(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: url.appending(path: name)), as: UTF8.self)
    }

    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: url.appending(path: name))
    }
}

extension String {
    /// Numbers as the program counts, without what it puts between their thousands.
    var withoutCommas: String { replacing(",", with: "") }
}

/// Lines as a terminal of so many columns shows them.
func text(_ lines: [StyledLine], isColoured: Bool = false, columns: Int = .max) -> String {
    lines.map { $0.text(Style(isColoured: isColoured), columns: columns) }.joined(separator: "\n")
}
