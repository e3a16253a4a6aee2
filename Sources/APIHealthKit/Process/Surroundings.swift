import Foundation
import LoaderChain

/// The environment of the program, which tests replace.
package struct Surroundings: Sendable {
    var environment: [String: String] = [:]
    var output: Output
    /// Where errors go.
    var errors: Output
    var timers: any Timers = SystemTimers.shared
    var stop = StopSign()

    /// The environment of this process; from here on SIGINT and SIGTERM request a stop, and SIGTSTP gives the cursor back.
    package static func process() -> Surroundings {
        let stop = StopSign()
        stop.listenToSignals()
        return Surroundings(
            environment: ProcessInfo.processInfo.environment,
            output: .standardOutput(whenLost: { stop.request() }), errors: .standardError, stop: stop)
    }

    /// Whether text may be coloured: on a terminal, unless the environment forbids it.
    var mayColour: Bool {
        output.isTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    /// Whether the output is a terminal that can move its cursor.
    var mayMoveCursor: Bool { output.isTerminal && environment["TERM"] != "dumb" }

    /// A block of lines on the output that is redrawn in place.
    func liveScreen(_ style: Style) -> LiveScreen {
        LiveScreen(output, style: style, suspensions: { [stop] in stop.suspensions })
    }
}
