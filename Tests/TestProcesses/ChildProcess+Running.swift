#if os(Linux) || os(macOS)
    import Foundation

    extension ChildProcess {
        /// The result of a program that has ended.
        public struct Outcome: Sendable {
            /// Its standard output, without surrounding whitespace.
            public let output: String
            /// Its standard error, without surrounding whitespace.
            public let errors: String
            /// How it ended.
            public let end: End

            /// Whether a signal ended it.
            public var crashed: Bool { if case .signalled = end { true } else { false } }

            /// Its status, if it ended by itself.
            public var status: Int32? { if case .exited(let status) = end { status } else { nil } }
        }

        /// Runs a program until it ends.
        public static func run(
            _ program: URL, _ arguments: [String] = [], in directory: URL? = nil, environment: [String: String]? = nil
        ) async throws -> Outcome {
            let process = try ChildProcess(program, arguments, in: directory, environment: environment)
            async let output = process.output.rest()
            async let errors = process.errors.rest()
            return Outcome(
                output: await output.trimmingCharacters(in: .whitespacesAndNewlines),
                errors: await errors.trimmingCharacters(in: .whitespacesAndNewlines), end: await process.end())
        }

        /// Runs a program that reads some bytes as its standard input, until it ends.
        public static func run(_ program: URL, _ arguments: [String], reading input: Data) async throws -> Outcome {
            let file = FileManager.default.temporaryDirectory.appending(path: "input-\(UUID())")
            try input.write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let shell = ["-c", #"exec "$@" <"$0""#, file.path, program.path]
            return try await run(URL(filePath: "/bin/sh"), shell + arguments)
        }

        /// A program of this package, built together with the tests.
        public static func product(_ name: String) -> URL {
            #if canImport(Darwin)
                let tests =
                    Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL ?? Bundle.main.bundleURL
            #else
                let tests = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
            #endif
            return tests.deletingLastPathComponent().appending(path: name)
        }

        /// A program of the system, if it is installed.
        public static func find(_ name: String) -> URL? {
            ["/usr/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"].map { URL(filePath: "\($0)/\(name)") }
                .first { FileManager.default.isExecutableFile(atPath: $0.path) }
        }
    }
#endif
