import APIHealthKit
import LoaderChainPlatformC

/// The entry point; everything else is in `APIHealthKit`, where tests reach it.
@main
struct Main {
    static func main() async {
        let program = Program(in: .process())
        let status = await program.run(Array(CommandLine.arguments.dropFirst()))
        exit(status.rawValue)
    }
}
