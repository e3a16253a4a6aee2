import LoaderChain
import Testing

@testable import APIHealthKit

@Suite(.timeLimit(.minutes(10))) struct ArgumentTests {
    private static let syntax = Syntax(
        command: "make", summary: "Makes.", operands: ("THING…", 1...2),
        options: [
            .init("size", "N", "How large."), .init("tag", "NAME", repeats: true, "What it is called."),
            .init("fast", "Not slowly."),
        ])

    @Test func optionsAndOperandsMayBeMixed() throws {
        let list = try Self.syntax.parse(["a", "--size", "3", "--tag=x=y", "--fast", "--tag", "-z", "--", "--size"])
        #expect(list.operands == ["a", "--size"])
        #expect(list.text("size") == "3")
        #expect(list.texts("tag") == ["x=y", "-z"])
        #expect(list.has("fast"))
    }

    @Test(arguments: [
        (["a", "--siez", "3"], "there is no option --siez; did you mean --size?"),
        (["a", "--si", "3"], "there is no option --si; did you mean --size?"),
        (["a", "-size", "3"], "there is no option -size; did you mean --size?"),
        (["a", "--colour"], "there is no option --colour; see apihealth make --help"),
        (["a", "--size"], "--size needs a value; write --size N"),
        (["a", "--fast=1"], "--fast takes no value; write it without “=”"),
        (["a", "--size", "1", "--size", "2"], "--size is given twice; give it once"),
        ([], "THING… is missing; write apihealth make THING… [OPTION…]"),
        (["a", "b", "c"], "“c” is one argument too many; write apihealth make THING… [OPTION…]"),
        (["a", "--\u{1B}[31m"], "there is no option --\\u{1B}[31m; see apihealth make --help"),
    ])
    func parseErrorNamesMistakeAndRemedy(arguments: [String], message: String) {
        let error = #expect(throws: ProgramError.self) { try Self.syntax.parse(arguments) }
        #expect(error == ProgramError(.usage, message))
    }

    @Test func integerOptionOutsideRangeIsRejected() throws {
        let list = try Self.syntax.parse(["a", "--size", "11"])
        #expect(try list.integer("size", in: 1...11) == 11)
        #expect(try list.integer("other", in: 1...11) == nil)
        let error = #expect(throws: ProgramError.self) { try list.integer("size", in: 1...10) }
        #expect(error?.message == "--size cannot be “11”; give a whole number from 1 to 10")
        let open = #expect(throws: ProgramError.self) { try list.integer("size", in: 12...Int.max) }
        #expect(open?.message == "--size cannot be “11”; give a whole number from 12 on")
    }

    @Test func firstArgumentChoosesCommand() throws {
        #expect(try Command.chosen(by: []).0 == .demo)
        #expect(try Command.chosen(by: ["--seconds", "3"]).0 == .demo)
        #expect(try Command.chosen(by: ["watch", "x"]) == (.watch, ["x"]))
        let error = #expect(throws: ProgramError.self) { try Command.chosen(by: ["rapport"]) }
        #expect(error?.message == "there is no command “rapport”; did you mean “report”?")
        let other = #expect(throws: ProgramError.self) { try Command.chosen(by: ["sing"]) }
        #expect(other?.message.hasPrefix("there is no command “sing”; the commands are demo, watch, report") == true)
    }

    @Test(arguments: [
        (["watch", "ftp://a/b"], "“ftp://a/b” is not a valid address; it must begin with http:// or https://"),
        (["watch", "a/b"], "“a/b” is not a valid address; give a URL such as https://api.example.com/health"),
        (["watch", "http://"], "“http://” is not a valid address; it needs a host"),
        (
            ["watch", "http://me:secret@a/b?token=secret"],
            "“a/b” is not a valid address; give credentials with --header, not in the address"
        ),
        (["watch", "http://a", "--header", "secret"], "a --header cannot be understood; give it as “Name: value”"),
        (
            ["watch", "http://a", "--expect", "ok"],
            "--expect cannot be “ok”; give a status such as 200, 200,204, 2xx or 200-299"
        ),
        (["watch", "http://a", "--every", "1ms"], "--every cannot be “1ms”; give a duration from 10 ms to 24 h"),
        (
            ["watch", "http://a", "--once", "--count", "2"],
            "--once and --count cannot be combined; give one of them"
        ),
        (["report", "a", "--precision", "h"], "--precision cannot be “h”; give ns, us, ms or s"),
        (["--seed", "-1"], "--seed cannot be “-1”; give a whole number from 0 on"),
        (["outbox", "lst", "a"], "there is no action “lst”; did you mean “list”?"),
        (["outbox", "show", "a"], "wrong arguments for “outbox show”; see apihealth outbox --help"),
    ])
    func usageErrorPrintsOneLineAndSetsStatus(arguments: [String], message: String) async {
        let program = TestProgram()
        #expect(await Program(in: program.surroundings).run(arguments) == .usage)
        #expect(program.complaints.text == "apihealth: \(message)\n")
        #expect(program.written.text == "")
    }

    @Test func addressesThatLookTheSameAreNumbered() throws {
        let list = try WatchArguments.syntax.parse(["http://a/?k=1", "http://b/", "http://a/?k=2"])
        let names = try WatchArguments(list).endpoints.map(\.name)
        #expect(names == ["http://a/?k=redacted (1)", "http://b/", "http://a/?k=redacted (2)"])
    }

    @Test(arguments: Command.allCases) func everyCommandHasHelpText(command: Command) async {
        let program = TestProgram()
        #expect(await program.run(command.rawValue, "--help") == .success)
        #expect(await program.run("help", command.rawValue) == .success)
        let text = program.written.text
        #expect(text.contains("Exit status:\n  0  success\n"))
        for option in command.syntax.options { #expect(text.contains("--\(option.name) "), "\(option.name)") }
        #expect(program.written.lines.allSatisfy { $0.count <= 120 })
    }

    @Test func overviewNamesEveryCommand() async {
        let program = TestProgram()
        #expect(await program.run("--help") == .success)
        for command in Command.allCases where command != .demo {
            #expect(program.written.text.contains("  apihealth \(command.rawValue) "))
        }
    }

    @Test func nearestNameIsFoundAndDistantNamesAreIgnored() {
        let names = ["every", "expect", "timeout", "file"]
        #expect(Nearest.name(to: "evrey", among: names) == "every")
        #expect(Nearest.name(to: "exp", among: names) == "expect")
        #expect(Nearest.name(to: "FILE", among: names) == "file")
        #expect(Nearest.name(to: "tiemout", among: names) == "timeout")
        #expect(Nearest.name(to: "colour", among: names) == nil)
        #expect(Nearest.name(to: "", among: names) == nil)
        #expect(Nearest.name(to: String(repeating: "x", count: 100_000), among: names) == nil)
    }
}
