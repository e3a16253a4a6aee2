#if os(Linux) || os(macOS)
    import Foundation
    import LoaderChain
    import LoaderChainTesting
    import ReportOutbox
    import TestProcesses
    import Testing

    @testable import APIHealthKit

    /// What somebody types who has never seen the program: each line has a status, and says one clear thing.
    @Suite(.timeLimit(.minutes(10))) struct NewcomerTests {
        private static let program = ChildProcess.product("apihealth")

        private let folder: TestFolder
        private let server: LoopbackServer
        private let refusing: String

        init() throws {
            folder = try TestFolder()
            server = try LoopbackServer()
            server.route("/well") { _ in .ok("well") }
            server.route("/moved") { _ in .init(.movedPermanently, headers: ["Location": "/well"]) }
            server.fallback { _ in .init(.internalServerError) }
            let closed = try LoopbackServer.restartable()
            refusing = closed.url("/").absoluteString
            closed.stop()
            let line = "APIHealth,host=a,method=GET,outcome=success,path=/x duration=0.1 1700000000000000000\n"
            let bad = "APIHealth,host=a,method=GET,outcome=server-error,path=/x duration=0.4 1700000001000000000\n"
            try folder.write(line + bad, to: "a.lp")
            try folder.write("cpu load=1 1\n", to: "cpu.lp")
            try folder.write("", to: "empty.lp")
            try folder.write("no JSON", to: "bad.json")
            try folder.write("\u{1F}", to: "token")
            let gzip = try #require(
                Data(
                    base64Encoded:
                        "H4sIAAAAAAACA3MM8PRITcwpydDJyC8usU3UyU0tychPsXV3DdHJLy1Jzs9NtS0uTU5OLS7WKUgsybDVr1BI"
                        + "KS1KLMnMz7M10DNUMDQ3QAdcjsQYmlpUllqkm1pUlF+EzWQThMmGCJMBSTJQkK8AAAA="))
            try gzip.write(to: folder.url.appending(path: "a.lp.gz"))
            try gzip.dropLast(9).write(to: folder.url.appending(path: "torn.lp.gz"))
            let box = try ReportOutbox(
                directory: URL(filePath: folder.path("box")), chain: HTTPLoader(), startsSending: false)
            try box.submit(
                Data("bytes".utf8), identifier: "first",
                request: HTTPRequest(method: .post, url: try #require(URL(string: "https://reports.example/"))))
            box.drain()
            try FileManager.default.createDirectory(atPath: folder.path("no-box"), withIntermediateDirectories: false)
        }

        /// What is typed, with names in braces for what the test made; the status; and a part of what is said.
        private static let lines: [(typed: String, status: Int32, says: String)] = [
            // Help.
            ("--help", 0, "Exit status:"), ("-h", 0, "Options without a command:"), ("help", 0, "apihealth watch URL…"),
            ("help watch", 0, "--fail-if CONDITION"), ("watch --help", 0, "Ctrl-C and SIGTERM end it"),
            ("help report", 0, "- is standard input"), ("outbox --help", 0, "list DIRECTORY"),
            ("metrickit --help", 0, "--together"), ("help help", 0, "apihealth"),
            ("completions --help", 0, "bash, zsh or fish"), ("manual --help", 0, "manual page"),
            ("--version", 0, "apihealth 0.9.0"),
            ("completions bash", 0, "complete -o filenames -F _apihealth apihealth"),
            ("completions zsh", 0, "#compdef apihealth"), ("completions fish", 0, "complete -c apihealth"),
            ("manual", 0, ".TH APIHEALTH 1"),
            ("help wach", 2, "there is no command “wach”; did you mean “watch”?"),
            ("completions powershell", 2, "there is no shell “powershell”; the shells are bash, zsh, fish"),
            ("completions", 2, "SHELL is missing; write apihealth completions SHELL"),
            ("manual page", 2, "“page” is one argument too many; see apihealth manual --help"),
            ("help watch report", 2, "“report” is one argument too many"),
            // Commands and options that do not exist.
            ("version", 2, "there is no command “version”; the commands are demo, watch, report"),
            ("rapport", 2, "did you mean “report”?"), ("{well}", 2, "there is no command “http://127.0.0.1"),
            ("-v", 2, "there is no option -v"), ("--vesion", 2, "did you mean --version?"),
            ("watch {well} --evry 5s", 2, "there is no option --evry; did you mean --every?"),
            ("watch {well} --once --once", 2, "--once is given twice; give it once"),
            ("watch {well} --every", 2, "--every needs a value; write --every TIME"),
            ("watch {well} --once=yes", 2, "--once takes no value; write it without “=”"),
            // The demo.
            ("--seconds 1 --file {folder}/demo.lp", 0, "points of metrics went to"),
            ("demo --seconds 1 --json --file {folder}/demo.lp", 0, "\"requests\""),
            ("demo --seconds 1 --plain --file {folder}/d.lp --fail-if max>0ms", 1, "“max>0ms” is met"),
            ("--seconds 0", 2, "--seconds cannot be “0”; give a whole number from 1 to 3600"),
            ("--seconds soon", 2, "--seconds cannot be “soon”"), ("--seed -1", 2, "--seed cannot be “-1”"),
            ("demo now", 2, "“now” is one argument too many"),
            ("--plain --json", 2, "--plain and --json cannot be combined; give one of them"),
            ("--seconds 1 --file {folder}/no/such.lp", 3, "cannot be opened for writing: no such file or directory"),
            // The watch.
            ("watch {well} --once", 0, "ok   200"), ("watch {well} --once --json", 0, "\"isAllHealthy\" : true"),
            ("watch {well} --count 2 --every 10ms --quiet", 0, "100 %"),
            ("watch {well} --once --phases", 0, "server "),
            ("watch {well} --once --phases --json", 2, "--phases and --json cannot be combined"),
            ("watch {well} {ill} --once", 1, "BAD  500"), ("watch {ill} --once --expect 5xx", 0, "ok   500"),
            ("watch {moved} --once", 0, "ok   200"), ("watch {moved} --once --expect 301", 0, "ok   301"),
            ("watch {refusing} --once", 1, "connection refused"),
            ("watch http://nothing.invalid/ --once", 1, "DNS failure"),
            ("watch {ill} --once --fail-if errors>=100%", 1, "errors are 100 % at http://127.0.0.1"),
            ("watch {well} --once --fail-if errors>0%", 0, "ok   200"),
            ("watch {ill} --once --fail-if p95>1h", 1, "BAD  500"),
            ("watch {well} --once --fail-if p95<1h", 1, "p95 is "),
            ("watch {well} --fail-if p95", 2, "there is no comparison “”; give >, >=, < or <="),
            ("watch {well} --fail-if slow>1s", 2, "there is no metric “slow”"),
            ("watch", 2, "URL… is missing; write apihealth watch URL… [OPTION…]"),
            ("watch example.com", 2, "give a URL such as https://api.example.com/health"),
            ("watch ftp://a/", 2, "it must begin with http:// or https://"),
            ("watch http://me:secret@a/", 2, "give credentials with --header, not in the address"),
            ("watch {well} --expect ok", 2, "--expect cannot be “ok”"),
            ("watch {well} --header secret", 2, "a --header cannot be understood; give it as “Name: value”"),
            ("watch {well} --bearer-env NO_SUCH", 2, "names the environment variable NO_SUCH, which is not set"),
            ("watch {well} --once --bearer-env TOKEN", 0, "ok   200"),
            ("watch {well} --database health", 2, "--database needs a database; give its address with --influx URL"),
            ("watch {well} --influx {well} --bucket b", 2, "InfluxDB 2 needs --org NAME"),
            ("watch {well} --influx {well} --database d --token-env NO_SUCH", 2, "which is not set; set it"),
            ("watch {well} --influx {well} --database d --token-file {folder}/none", 3, "cannot be read"),
            // The report.
            ("report {folder}/a.lp", 0, "a.html shows 2 requests to 1 route, 50 % of them good."),
            ("report {folder}/a.lp.gz --json", 0, "\"requests\" : 2"),
            ("report {folder}/a.lp.gz --output -", 0, "<!DOCTYPE html>"),
            ("report {folder}/a.lp --fail-if p99>300ms", 1, "p99 is 400 ms at GET a/x: “p99>300ms” is met"),
            ("report {folder}/a.lp --fail-if errors>50%", 0, "50 % of them good"),
            ("report {folder}/a.lp --fail-if errors>5", 2, "“5” is not a share of the requests"),
            ("report {folder}/torn.lp.gz", 3, "its gzip data ends too early"),
            ("report {folder}/none.lp", 3, "none.lp cannot be read: no such file or directory; check the path"),
            ("report {folder}", 3, "cannot be read: is a directory"),
            ("report {folder}/cpu.lp", 1, "there is no request in"),
            ("report {folder}/empty.lp", 1, "there is no request in"),
            ("report -", 1, "there is no request in standard input"),
            ("report - -", 2, "standard input can be read once"),
            ("report", 2, "FILE… is missing"), ("report {folder}/a.lp --precision h", 2, "give ns, us, ms or s"),
            ("report {folder}/a.lp --output {folder}/a.lp", 2, "the page would replace"),
            // The outbox and payloads.
            ("outbox list {folder}/box", 0, "1 waiting, 0 dead letters"),
            ("outbox list {folder}/box --json", 0, "\"first\""),
            ("outbox list {folder}/no-box", 3, "is not an outbox; give the directory of a ReportOutbox"),
            ("outbox list {folder}", 3, "is not an outbox"),
            ("outbox list {folder}/none", 3, "The directory of the outbox cannot be opened"),
            ("outbox lst {folder}/box", 2, "there is no action “lst”; did you mean “list”?"),
            ("outbox show {folder}/box", 2, "wrong arguments for “outbox show”"),
            ("outbox show {folder}/box second", 1, "there is no report “second” in the outbox"),
            ("outbox list", 2, "ACTION DIRECTORY [ID [FILE]] is missing"),
            ("metrickit {folder}/bad.json", 3, "bad.json"), ("metrickit", 2, "FILE… is missing"),
        ]

        private func words(of typed: String) -> [String] {
            typed.split(separator: " ").map {
                String($0).replacing("{folder}", with: folder.url.path(percentEncoded: false))
                    .replacing("{well}", with: server.url("/well").absoluteString)
                    .replacing("{ill}", with: server.url("/ill").absoluteString)
                    .replacing("{moved}", with: server.url("/moved").absoluteString)
                    .replacing("{refusing}", with: refusing)
            }
        }

        @Test func everyCommandLineHasExpectedStatusAndOutput() async throws {
            #expect(Self.lines.count >= 60)
            let environment = [
                "TOKEN": "t0ken", "HOME": folder.url.path(percentEncoded: false), "PATH": "/usr/bin:/bin",
            ]
            for line in Self.lines {
                let end = try await ChildProcess.run(Self.program, words(of: line.typed), environment: environment)
                #expect(end.status == line.status, "\(line.typed): \(end.errors)")
                #expect(
                    (end.output + "\n" + end.errors).contains(line.says), "\(line.typed): \(end.output)\(end.errors)")
                // A sanitizer may say something of its own.
                let complaints = end.errors.split(separator: "\n").filter { $0.hasPrefix("apihealth: ") }
                let isMistake = line.status >= ProgramStatus.usage.rawValue
                if isMistake { #expect(complaints.count == 1, "\(line.typed): \(end.errors)") }
                #expect(!(end.output + end.errors).contains("t0ken"), "\(line.typed)")
                if line.status == 2 { #expect(end.output == "", "\(line.typed)") }
            }
        }

        @Test func standardInputIsReadLikeAFile() async throws {
            for name in ["a.lp", "a.lp.gz"] {
                for shell in [#"cat "$1" | "$0" report - --output -"#, #""$0" report - --output - <"$1""#] {
                    let end = try await ChildProcess.run(
                        URL(filePath: "/bin/sh"), ["-c", shell, Self.program.path, folder.path(name)])
                    #expect(end.status == 0)
                    #expect(end.output.contains("<title>API health</title>"))
                    #expect(end.errors.contains("The page shows 2 requests to 1 route, 50 % of them good."))
                }
            }
        }

        @Test(.enabled(if: ChildProcess.find("bash") != nil, "There is no bash."))
        func bashCompletesCommandsOptionsAndValues() async throws {
            let script = """
                eval "$("$0" completions bash)"
                complete_line() {
                    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _apihealth; printf '%s\\n' "${COMPREPLY[@]}" | sort | paste -sd ' ' -
                }
                complete_line apihealth wa
                complete_line apihealth watch http://a/ --fail
                complete_line apihealth outbox l
                complete_line apihealth --se
                complete_line apihealth help rep
                complete_line apihealth report "$1/a.l"
                complete_line apihealth watch --every ''
                complete_line apihealth watch http://a/ --token-file "$1/tok"
                """
            let end = try await ChildProcess.run(
                try #require(ChildProcess.find("bash")),
                ["--norc", "-c", script, Self.program.path, folder.url.path(percentEncoded: false)])
            let path = folder.url.path(percentEncoded: false)
            #expect(
                end.output.split(separator: "\n", omittingEmptySubsequences: false) == [
                    "watch", "--fail-if", "list", "--seconds --seed", "report",
                    "\(path)/a.lp \(path)/a.lp.gz", "", "\(path)/token",
                ])
        }

        @Test(.enabled(if: ChildProcess.find("groff") != nil, "There is no groff."))
        func manualIsValidManPage() async throws {
            let shell = #""$0" manual | groff -man -Tutf8 -ww -P -cbou"#
            let end = try await ChildProcess.run(URL(filePath: "/bin/sh"), ["-c", shell, Self.program.path])
            #expect(end.status == 0)
            #expect(end.errors == "")
            #expect(end.output.contains("apihealth - monitors HTTP APIs through a loader chain"))
            for command in Command.allCases {
                for option in command.syntax.options {
                    #expect(end.output.contains("--\(option.name)"), "\(option.name)")
                }
            }
        }
    }
#endif
