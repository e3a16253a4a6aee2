import Testing

@testable import BenchmarkSupport

@Suite(.timeLimit(.minutes(10))) struct OptionsTests {
    @Test func everyOptionIsParsed() throws {
        let options = try Options(parsing: [
            "--filter", "a", "--filter=b=c", "--quick", "--list", "--json", "new.json", "--compare=old.json",
            "--check-allocations", "--help", "--from", "was.json", "--plot=pictures", "--markdown", "a.md",
        ])
        #expect(options.filters == ["a", "b=c"])
        #expect(options.jsonPath == "new.json")
        #expect(options.comparePath == "old.json")
        #expect(options.fromPath == "was.json" && options.plotPath == "pictures" && options.markdownPath == "a.md")
        #expect(!options.isFleet)
        #expect(options.isQuick && options.showsList && options.checksAllocations && options.showsHelp)
        #expect(options.plan == .quick)
        #expect(try Options(parsing: []).plan == .full)
    }

    @Test func limitsCommandAcceptsItsOptions() throws {
        let options = try Options(parsing: ["limits", "--quick", "--plot", "p", "--markdown", "m"])
        #expect(options.isLimits && options.isQuick && options.plotPath == "p" && options.markdownPath == "m")
    }

    @Test func fleetCommandAcceptsItsOptions() throws {
        let options = try Options(parsing: ["fleet", "--quick", "--plot", "p", "--markdown", "m"])
        #expect(options.isFleet && options.isQuick && options.plotPath == "p" && options.markdownPath == "m")
    }

    @Test(
        arguments: [
            (["--fast"], "Unknown option --fast. --help lists the options."),
            (["floor"], "Unknown option floor. --help lists the options."),
            ([""], "Unknown option . --help lists the options."),
            (["fleet=9"], "Unknown option fleet=9. --help lists the options."),
            (["fleet", "--json", "a"], "--json is for benchmarks, and not for the fleet."),
            (["--filter", "a", "fleet"], "--filter is for benchmarks, and not for the fleet."),
            (["limits", "--list"], "--list is for benchmarks, and not for the limits."),
            (["fleet", "limits"], "Run the fleet or the limits, one after the other."),
            (["--plot"], "--plot needs a value, as in: --plot DIR"),
            (["--filter"], "--filter needs a value, as in: --filter TEXT"),
            (["--json", "--quick"], "--json needs a value, as in: --json FILE"),
            (["--compare="], "--compare needs a value, as in: --compare FILE"),
            (["--quick=yes"], "--quick takes no value; write it without the equals sign."),
        ])
    func invalidArgumentsAreRejectedWithAdvice(arguments: [String], text: String) {
        #expect(throws: Options.Mistake(text: text)) { try Options(parsing: arguments) }
    }

    @Test func helpNamesEveryOption() {
        let all = [
            "--filter", "--quick", "--list", "--json", "--compare", "--from", "--plot", "--markdown",
            "--check-allocations", "--help",
        ]
        for option in all {
            #expect(Options.help.contains("  \(option) "))
        }
    }
}
