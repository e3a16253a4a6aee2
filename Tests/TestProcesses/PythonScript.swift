#if os(Linux) || os(macOS)
    import Foundation

    /// A script of the folder Tests that ends with 77 if it lacks a package.
    package struct PythonScript: Sendable {
        private let name: String

        /// Reads headers by the SDK of OpenTelemetry.
        package static let oracle = PythonScript(name: "telemetry-oracle.py")

        /// Whether it has what it needs.
        package func isThere() async -> Bool { (try? await run([]).status) == 0 }

        /// Runs the script to its end, with a text as its input.
        package func run(_ arguments: [String], input: String = "") async throws -> ChildProcess.Outcome {
            let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            return try await ChildProcess.run(
                URL(filePath: "/usr/bin/env"), ["python3", tests.appending(path: name).path] + arguments,
                reading: Data(input.utf8))
        }
    }
#endif
