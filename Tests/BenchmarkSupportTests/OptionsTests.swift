import Testing

@testable import BenchmarkSupport

@Suite struct OptionsTests {
    @Test func everyOption() throws {
        let options = try Options(parsing: [
            "--filter", "a", "--filter=b=c", "--quick", "--list", "--json", "new.json", "--compare=old.json",
            "--check-allocations", "--help",
        ])
        #expect(options.filters == ["a", "b=c"])
        #expect(options.jsonPath == "new.json")
        #expect(options.comparePath == "old.json")
        #expect(options.isQuick && options.showsList && options.checksAllocations && options.showsHelp)
        #expect(options.plan == .quick)
        #expect(try Options(parsing: []).plan == .full)
    }

    @Test(
        arguments: [
            (["--fast"], "Unknown option --fast. --help shows the options there are."),
            (["floor"], "Unknown option floor. --help shows the options there are."),
            ([""], "Unknown option . --help shows the options there are."),
            (["--filter"], "--filter needs a value, as in: --filter TEXT"),
            (["--json", "--quick"], "--json needs a value, as in: --json FILE"),
            (["--compare="], "--compare needs a value, as in: --compare FILE"),
            (["--quick=yes"], "--quick takes no value; write it without the equals sign."),
        ])
    func mistakesSayWhatToDo(arguments: [String], text: String) {
        #expect(throws: Options.Mistake(text: text)) { try Options(parsing: arguments) }
    }

    @Test func helpNamesEveryOption() {
        for option in ["--filter", "--quick", "--list", "--json", "--compare", "--check-allocations", "--help"] {
            #expect(Options.help.contains("  \(option) "))
        }
    }
}
