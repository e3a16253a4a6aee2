#if os(Linux) || os(macOS)
    import Foundation
    import LoaderChain
    import LoaderChainTesting
    import TestProcesses
    import Testing

    @testable import APIHealthKit

    /// The program as a process of its own, as it is run.
    @Suite(.timeLimit(.minutes(10))) struct ProcessTests {
        private static let program = ChildProcess.product("apihealth")

        @Test(arguments: [SIGINT, SIGTERM])
        func serverRestartAndSignalLoseNoMetric(signal: Int32) async throws {
            let folder = try TestFolder()
            let first = try LoopbackServer.restartable()
            first.fallback { _ in .ok("well") }
            let child = try ChildProcess(
                Self.program,
                [
                    "watch", first.url("/a").absoluteString, first.url("/b").absoluteString, "--every", "20ms",
                    "--file",
                    folder.path("m.lp"),
                ])
            var seen = WatchedLines()
            await seen.read(from: child) { $0.healthy == 10 }
            first.stop()
            await seen.read(from: child) { $0.bad >= 10 && $0.badEndpoints.count == 2 }
            let second = try LoopbackServer(port: UInt16(first.port))
            second.fallback { _ in .ok("well") }
            let before = seen.healthy
            await seen.read(from: child) { $0.healthy >= before + 10 && $0.recoveries >= 2 }
            child.send(signal)
            await seen.read(from: child) { _ in false }
            #expect(await child.end() == .exited(ProgramStatus.unhealthy.rawValue))

            // Every check that was told of is in the file, and so are those that the signal cut short.
            var model = ReportModel()
            try ReportReader.read(folder.path("m.lp"), precision: .nanoseconds, into: &model)
            #expect(model.badLines + model.otherPoints == 0)
            #expect(model.total.judged == seen.healthy + seen.bad)
            #expect(model.total.good == seen.healthy)
            #expect(
                seen.summary.contains { $0.withoutCommas.hasPrefix("\(model.total.count) points of metrics went to ") })
            #expect(seen.recoveries >= 2)
        }

        @Test func killedWatchHasWrittenEveryPrintedCheck() async throws {
            let folder = try TestFolder()
            let server = try LoopbackServer()
            server.fallback { _ in .ok("well") }
            let child = try ChildProcess(
                Self.program,
                ["watch", server.url("/a").absoluteString, "--every", "10ms", "--file", folder.path("m.lp")])
            var seen = WatchedLines()
            await seen.read(from: child) { $0.healthy == 20 }
            child.send(SIGKILL)
            await seen.read(from: child) { _ in false }
            #expect(await child.end() == .signalled(SIGKILL))
            var model = ReportModel()
            try ReportReader.read(folder.path("m.lp"), precision: .nanoseconds, into: &model)
            #expect(model.badLines + model.otherPoints == 0)
            #expect(model.total.count >= seen.healthy)
        }

        /// After the first one the program delivers its metrics, which takes as long as --patience allows.
        @Test func secondInterruptEndsProgramAtOnce() async throws {
            let (folder, server, slow) = (try TestFolder(), try LoopbackServer(), try LoopbackServer())
            server.route("/a") { _ in .ok("well") }
            server.route("/write") { _ in .status(.noContent).held() }
            slow.fallback { _ in .ok().held() }
            let child = try ChildProcess(
                Self.program,
                [
                    "watch", server.url("/a").absoluteString, slow.url("/b").absoluteString, "--every", "1h",
                    "--timeout", "1h", "--influx", server.baseURL.absoluteString, "--database", "health", "--spool",
                    folder.path("spool"), "--patience", "1h",
                ])
            while let line = await child.output.line(), !line.contains("Z  ok ") {}
            try await slow.waitForHeld(count: 1)
            child.send(SIGINT)
            // The program has heard it when it cancels its other check. Signals that come together would count once.
            try await slow.waitForOpenConnections(atMost: 0)
            child.send(SIGINT)
            #expect(await child.end() == .exited(130))
        }

        @Test func demoProcessWritesEveryRequest() async throws {
            let folder = try TestFolder()
            let end = try await ChildProcess.run(
                Self.program, ["--seconds", "1", "--json", "--file", folder.path("demo.lp")])
            #expect(end.status == 0)
            // A sanitizer may have said something of its own.
            #expect(!end.errors.contains("apihealth"))
            let report = try #require(
                try JSONSerialization.jsonObject(with: Data(end.output.utf8)) as? [String: Any])
            let requests = try #require(report["requests"] as? Int)
            #expect(requests > 10)
            #expect(try folder.text("demo.lp").split(separator: "\n").count == requests)
        }

        @Test(arguments: [SIGINT, SIGTERM])
        func stoppedDemoSummarizesEveryRequest(signal: Int32) async throws {
            let folder = try TestFolder()
            let child = try ChildProcess(Self.program, ["--seconds", "3600", "--file", folder.path("demo.lp")])
            while let line = await child.output.line(), !line.contains(/requests [1-9]/) {}
            child.send(signal)
            let summary = await child.output.rest().withoutCommas
            #expect(await child.end() == .exited(0))
            let requests = try #require(summary.firstMatch(of: /MetricsTap +measured ([0-9]+) requests?/)).1
            let lines = try folder.text("demo.lp").split(separator: "\n")
            #expect("\(lines.count)" == requests)
            #expect(summary.contains("\n\(lines.count) point\(lines.count == 1 ? "" : "s") of metrics went to "))
        }

        /// Runs the program by a shell, with its output as told.
        private static func shell(_ script: String, _ arguments: String...) async throws -> ChildProcess.Outcome {
            try await ChildProcess.run(URL(filePath: "/bin/sh"), ["-c", script, program.path] + arguments)
        }

        @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "There is no full device."))
        func lostOutputSetsFailureUnlessEndpointIsUnhealthy() async throws {
            let server = try LoopbackServer()
            server.route("/well") { _ in .ok("well") }
            server.fallback { _ in .init(.internalServerError) }
            let (well, ill) = (server.url("/well").absoluteString, server.url("/ill").absoluteString)
            let complaint = "apihealth: the output was lost: no space left on device"
            let full = #"exec "$0" "$@" >/dev/full"#
            for arguments in [["watch", well, "--once"], ["help"]] {
                let end = try await ChildProcess.run(
                    URL(filePath: "/bin/sh"), ["-c", full, Self.program.path] + arguments)
                #expect(end.status == ProgramStatus.failure.rawValue)
                #expect(end.errors.contains(complaint), "\(end.errors)")
            }
            let end = try await Self.shell(full, "watch", ill, "--once", "--quiet", "--json")
            #expect(end.status == ProgramStatus.unhealthy.rawValue)
        }

        @Test func closedPipeEndsWithSuccess() async throws {
            let server = try LoopbackServer()
            server.fallback { _ in .ok("well") }
            let folder = try TestFolder()
            // The page of so many routes does not fit into a pipe.
            let lines = (0..<200).map {
                "APIHealth,host=a,method=GET,outcome=success,path=/\($0) duration=0.1 \($0)000000000\n"
            }
            try folder.write(lines.joined(), to: "a.lp")
            let watch = ["watch", server.url("/").absoluteString, "--every", "10ms"]
            for arguments in [watch, ["report", folder.path("a.lp"), "--output", "-"]] {
                let end = try await ChildProcess.run(
                    URL(filePath: "/bin/sh"),
                    ["-c", #"("$0" "$@"; echo "status $?" >&2) | head -n 1"#, Self.program.path] + arguments)
                #expect(end.errors.hasSuffix("status 0"), "\(end.errors)")
                #expect(!end.errors.contains("apihealth: "), "\(end.errors)")
            }
        }

        @Test(.enabled(if: ChildProcess.find("python3") != nil, "There is no Python, which makes the terminal."))
        func suspendedScreenShowsCursorWithRedirectedErrors() async throws {
            let server = try LoopbackServer()
            server.fallback { _ in .ok("well") }
            // In a session of its own nobody could wake it, so the system does not stop it, and it goes on at once.
            let child = try ChildProcess(
                try #require(ChildProcess.find("python3")),
                [
                    "-c", "import pty, sys; pty.spawn(sys.argv[1:])", "/bin/sh", "-c",
                    #"echo "pid $$"; exec "$0" "$@" 2>/dev/null"#, Self.program.path, "watch",
                    server.url("/").absoluteString, "--every", "20ms",
                ],
                environment: ProcessInfo.processInfo.environment.merging(["TERM": "xterm"]) { $1 })
            var number: pid_t?
            while let line = await child.output.line(), !line.contains("●") {
                if let match = line.firstMatch(of: /pid ([0-9]+)/) { number = pid_t(match.1) }
            }
            kill(try #require(number), SIGTSTP)
            // When it goes on, the screen hides the cursor again.
            var isShown = false
            while let line = await child.output.line() {
                isShown = isShown || line.contains(Escape.showCursor)
                if line.contains(Escape.hideCursor) { break }
            }
            #expect(isShown)
        }

        @Test func usageErrorsGoToStandardError() async throws {
            let end = try await ChildProcess.run(Self.program, ["wach"])
            #expect(end.status == ProgramStatus.usage.rawValue)
            #expect(end.output == "")
            #expect(end.errors == "apihealth: there is no command “wach”; did you mean “watch”?")
        }

        @Test func childProcessInheritsNoOpenDescriptors() async throws {
            // A duplicate is inherited unless the descriptor is closed, as libcurl's connections are.
            let duplicate = dup(STDERR_FILENO)
            defer { close(duplicate) }
            let shell = URL(filePath: "/bin/sh")
            let end = try await ChildProcess.run(shell, ["-c", "[ ! -e /dev/fd/\(duplicate) ]"])
            #expect(end.status == 0)
        }
    }
#endif
