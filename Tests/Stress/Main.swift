import Foundation

/// Drives every loader from many threads, and ends at the first thing that is wrong.
///
/// ```text
/// Stress [--tasks N] [--seed S] [--threads N] [--patience SECONDS] [--kind NAME]… [--orderly]
/// Stress --program NAME [--seconds N]
/// Stress --list kinds|programs
/// ```
///
/// Requests are rewritten by any thread at any time, unless that is to be orderly: the thread sanitizer does not see that a
/// reference count orders what two threads do to a value that they shared, and would take it for a race.
///
/// The tasks are shared out among the kinds of load. Each must complete once and be released, and so must the chains. A
/// seed decides what each thread does, although not what the others do meanwhile.
///
/// A program is a dozen lines of what users write, repeated for some seconds. It proves that the process survives.
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

/// Prints a line at once, so that what was done so far is seen even where the process then crashes.
func say(_ line: String) {
    print(line)
    fflush(nil)
}

/// Says on the standard error what is wrong.
func complain(_ sentence: String) {
    FileHandle.standardError.write(Data("Stress: \(sentence)\n".utf8))
}
