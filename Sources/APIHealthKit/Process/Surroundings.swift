import Foundation
import LoaderChain

/// What the program finds around itself, so that a test can put something else there.
package struct Surroundings: Sendable {
    /// The environment variables.
    var environment: [String: String] = [:]
    /// Where results go.
    var output: Output
    /// Where complaints go.
    var errors: Output
    /// The clock.
    var timers: any Timers = SystemTimers.shared
    /// What asks the program to stop.
    var stop = StopSign()

    /// Those of this process; from here on SIGINT and SIGTERM ask it to stop.
    package static func process() -> Surroundings {
        let stop = StopSign()
        stop.listenToSignals()
        return Surroundings(
            environment: ProcessInfo.processInfo.environment,
            output: .standardOutput(whenNobodyReads: { stop.request() }), errors: .standardError, stop: stop)
    }

    /// Whether text may be coloured: on a terminal, unless the environment says otherwise.
    var mayColour: Bool {
        output.isTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    /// Whether what is written may be written over.
    var mayMoveCursor: Bool { output.isTerminal && environment["TERM"] != "dumb" }
}
