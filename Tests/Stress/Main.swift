import Foundation

/// Drives every loader from many threads, and stops at the first error.
///
/// ```text
/// Stress [--tasks N] [--seed S] [--threads N] [--patience SECONDS] [--kind NAME]… [--orderly]
/// Stress --program NAME [--seconds N]
/// Stress --list kinds|programs
/// ```
///
/// By default any thread changes requests at any time; `--orderly` prevents that, because the thread sanitizer does not see that
/// a reference count orders the changes of two threads to a shared value, and would report a race.
///
/// The tasks are divided among the kinds of load. Each must complete once and be released, and so must the chains. The seed
/// determines what each thread does, but not how the threads interleave.
///
/// A program is a dozen lines of user code, repeated for some seconds. It proves that the process survives.
@main
enum Main {
    static func main() {
        let arguments: Arguments
        switch Arguments.parse(CommandLine.arguments.dropFirst()) {
        case .success(let parsed): arguments = parsed
        case .failure(let problem):
            complain(problem.sentence)
            exit(2)
        }
        if let list = arguments.list {
            say(list.joined(separator: "\n"))
            return
        }
        if let program = arguments.program {
            program.run(for: .seconds(arguments.seconds))
        } else {
            say("seed \(arguments.seed), \(arguments.tasks) tasks, \(arguments.threads) threads")
            for kind in arguments.kinds {
                Drive(kind, tasks: arguments.tasks / arguments.kinds.count, arguments).run()
            }
        }
        say("nothing was wrong")
    }
}

/// Prints a line without buffering, so that it is visible even if the process crashes.
func say(_ line: String) {
    print(line)
    fflush(nil)
}

/// Prints an error to standard error.
func complain(_ sentence: String) {
    FileHandle.standardError.write(Data("Stress: \(sentence)\n".utf8))
}
