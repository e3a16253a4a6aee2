#if os(Linux) || os(macOS)
    import Foundation
    import LoaderChain
    import LoaderChainCurl
    import TestProcesses
    import TestSizes
    import Testing

    /// What terminals get wrong, each in a separate process.
    ///
    /// `Documentation/Linux.md` lists what the session on Linux gets wrong. Environment variables can raise the counts.
    @Suite(.serialized, .timeLimit(.minutes(10))) struct FaultTests {
        private func expectComplete(_ outcome: ChildProcess.Outcome, _ comment: Comment? = nil) {
            #expect(!outcome.crashed, comment)
            #expect(outcome.status == 0, "\(outcome.errors.suffix(2000))")
            #expect(outcome.output.hasPrefix("complete: "), "\(outcome.output) \(outcome.errors.suffix(2000))")
        }

        @Test(arguments: TestedTerminal.available)
        func cancelsAtRandomMomentsAreHarmless(_ terminal: TestedTerminal) async throws {
            let count = testSize("URLSESSION_CANCELS", usually: 3000)
            let outcome = try await runFaults("cancels", "\(count)", terminal: terminal)
            expectComplete(outcome)
            // Otherwise the run did not test both.
            #expect(outcome.output.contains("cancelled") && outcome.output.contains("cannotConnect"))
        }

        @Test(arguments: TestedTerminal.available)
        func cancelsDuringRedirectsAreHarmless(_ terminal: TestedTerminal) async throws {
            expectComplete(
                try await runFaults(
                    "redirects", "\(testSize("URLSESSION_REDIRECTS", usually: 1000))", terminal: terminal))
        }

        @Test(arguments: TestedTerminal.available)
        func cancelsDuringUploadsAreHarmless(_ terminal: TestedTerminal) async throws {
            expectComplete(
                try await runFaults("uploads", "\(testSize("URLSESSION_UPLOADS", usually: 500))", terminal: terminal))
        }

        @Test(arguments: TestedTerminal.available)
        func fuzzedResponsesEndWithResponseOrKnownError(_ terminal: TestedTerminal) async throws {
            let outcome = try await runFaults(
                "fuzz", "\(testSize("URLSESSION_EXCHANGES", usually: 1000))", terminal: terminal)
            expectComplete(outcome)
            #expect(!outcome.output.contains("unknown"))
            #expect(outcome.output.contains("invalidResponse") && outcome.output.contains("connectionLost"))
        }

        #if os(Linux)
            /// Not with a session, which may crash in the middle of a head.
            @Test(.enabled(if: CurlLoader.isAvailable)) func killedServerEndsItsRequestsAlone() async throws {
                guard ChildProcess.find("nginx") != nil else { return print("Passed over: nginx is not installed") }
                let outcome = try await runFaults("kills", "\(testSize("SERVER_KILLS", usually: 20))", terminal: .curl)
                expectComplete(outcome)
                let words = Set(outcome.output.split { !$0.isLetter })
                #expect(words == ["complete", "cannotConnect", "connectionLost"], "\(outcome.output)")
            }
        #endif

        /// Faults without a workaround, which only a later version of the session can fix.
        @Test(arguments: ["mid-head", "trailers", "endless"])
        func knownSessionFaultsAreAsDocumented(_ name: String) async throws {
            let outcome = try await runFaults("answer", name)
            #if canImport(FoundationNetworking) && !compiler(>=6.4)
                #expect(outcome.crashed, "The limit is gone; say so in Documentation/Linux.md: \(outcome.output)")
            #else
                #expect(outcome.crashed || outcome.output.hasPrefix("error ") || outcome.output.hasPrefix("response "))
            #endif
        }

        @Test func childProcessLoadsResponseWithoutFault() async throws {
            #expect(try await runFaults("answer", "fine").output == "response 200")
        }
    }

    /// The memory use of large bodies and long runs, measured as the peak of a separate process.
    @Suite(.serialized, .timeLimit(.minutes(10))) struct MemoryTests {
        /// The number of MiB to send; 1024 for the whole test.
        private static let size = testSize("URLSESSION_MEBIBYTES", usually: 128)
        /// The memory that a transfer may use, regardless of its size.
        private static let limit = 64 << 10

        @Test(
            arguments: ["file", "chunks", "slow-chunks", "lines", "events", "resumes", "upload", "multipart"],
            TestedTerminal.available)
        func largeBodyIsNotHeldInMemory(_ kind: String, _ terminal: TestedTerminal) async throws {
            let outcome = try await runFaults(kind, "\(Self.size)", terminal: terminal)
            #expect(outcome.output.hasPrefix("complete: "), "\(outcome.output) \(outcome.errors.suffix(2000))")
            try expectAtMost(Self.limit, outcome)
        }

        @Test(arguments: TestedTerminal.available)
        func memoryDoesNotGrowOverManyRequests(_ terminal: TestedTerminal) async throws {
            let count = testSize("URLSESSION_REQUESTS", usually: 6000)
            let outcome = try await runFaults("growth", "\(count)", terminal: terminal)
            #expect(outcome.output.hasPrefix("complete: "), "\(outcome.output) \(outcome.errors.suffix(2000))")
            // The session itself leaks about 120 bytes; a leaked exchange would be more than a kilobyte.
            try expectAtMost(1024 + count / 16, outcome)
        }

        private func expectAtMost(_ limit: Int, _ outcome: ChildProcess.Outcome) throws {
            // A sanitizer needs far more memory itself.
            guard ProcessInfo.processInfo.environment["TEST_STACK_KILOBYTES"] == nil else { return }
            let words = outcome.output.split(separator: " ")
            let kibibytes = try #require(words.dropLast().last.flatMap { Int($0) })
            #expect(kibibytes <= limit, "\(outcome.output)")
        }
    }

    /// Runs the program with the code that could crash, which is built together with the tests.
    func runFaults(
        _ arguments: String..., terminal: TestedTerminal = .urlSession, environment more: [String: String] = [:]
    ) async throws -> ChildProcess.Outcome {
        let own = ["SWIFT_BACKTRACE": "enable=no", "TERMINAL": terminal == .curl ? "curl" : ""]
        let environment = ProcessInfo.processInfo.environment.merging(own) { $1 }.merging(more) { $1 }
        return try await ChildProcess.run(ChildProcess.product("TerminalFaults"), arguments, environment: environment)
    }
#endif
