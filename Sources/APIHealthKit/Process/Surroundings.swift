import Foundation
import LoaderChain

/// The environment of the program, which tests replace.
package struct Surroundings: Sendable {
    var environment: [String: String] = [:]
    var output: Output
    var errors: Output
    var timers: any Timers = SystemTimers.shared
    var stop = StopSign()
    var keys = Keys.none

    /// The environment of this process; from here on SIGINT and SIGTERM request a stop, and other signals give the terminal back.
    package static func process() -> Surroundings {
        let stop = StopSign()
        stop.listenToSignals()
        return Surroundings(
            environment: ProcessInfo.processInfo.environment,
            output: .standardOutput(whenLost: { stop.request() }), errors: .standardError, stop: stop,
            keys: .standardInput)
    }

    /// Whether text may be coloured: on a terminal, unless the environment forbids it.
    var mayColour: Bool {
        output.isTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    /// Writes errors that do not end the program.
    func complain(_ complaints: [String]) { errors.write(lines: complaints.map { "apihealth: \($0)" }) }

    var mayMoveCursor: Bool { output.isTerminal && environment["TERM"] != "dumb" }

    /// The whole terminal that the output is, which signals give back.
    func liveScreen(_ style: Style) -> LiveScreen {
        let screen = LiveScreen(output, style: style, keys: keys)
        stop.guardTerminal(of: screen)
        return screen
    }
}

package enum ProgramStatus: Int32, Sendable {
    /// It succeeded, and everything it watched was healthy.
    case success = 0
    /// An endpoint failed a check, a condition for a failure was met, or a report does not exist.
    case unhealthy = 1
    /// The arguments are invalid.
    case usage = 2
    /// The output, a file, a server or an outbox failed, or metrics were lost.
    case failure = 3

    static let table: [(status: ProgramStatus, meaning: String)] = [
        (.success, "success"),
        (.unhealthy, "an endpoint was unhealthy, --fail-if was met, a report was not found, or a file has no requests"),
        (.usage, "the arguments are invalid"),
        (.failure, "the output, a file, an outbox or a database failed, or metrics were lost"),
    ]
}

/// An error that ends the program, as one line that says what is wrong and what to do.
struct ProgramError: Error, Hashable, Sendable {
    let status: ProgramStatus
    let message: String

    init(_ status: ProgramStatus, _ message: String) {
        self.status = status
        self.message = message
    }
}

extension Output {
    func write(json value: some Encodable) throws(ProgramError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        do {
            write(String(decoding: try encoder.encode(value), as: UTF8.self) + "\n")
        } catch {
            throw ProgramError(.failure, "the result cannot be written as JSON: \(error)")
        }
    }
}
