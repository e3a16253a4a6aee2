import Foundation
import LoaderChain

/// Starts one process after the other: Foundation's own bookkeeping is not safe while another is being started.
private func start(_ process: Process) throws { try starting.withLock { _ in try process.run() } }
private let starting = Guarded(())

/// A program that a test runs and waits for.
struct ChildProcess {
    struct Outcome: Sendable {
        let output: String
        let errors: String
        /// Whether a signal ended it.
        let crashed: Bool
        let status: Int32
    }

    /// Runs the program that is built beside the tests, which does what could end its process.
    static func faults(_ arguments: String...) async throws -> Outcome {
        let environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        return try await run(products.appending(path: "URLSessionFaults"), arguments, environment: environment)
    }

    static func run(
        _ program: URL, _ arguments: [String], in directory: URL? = nil, environment: [String: String]? = nil
    ) async throws -> Outcome {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = environment ?? ProcessInfo.processInfo.environment
        if let directory { process.currentDirectoryURL = directory }
        let output = Pipe()
        let errors = Pipe()
        process.standardOutput = output
        process.standardError = errors
        let (ends, hasEnded) = AsyncStream.makeStream(of: Void.self)
        process.terminationHandler = { _ in hasEnded.finish() }
        try start(process)
        async let printed = text(output)
        async let complained = text(errors)
        let (text, complaint) = await (printed, complained)
        for await _ in ends {}
        return Outcome(
            output: text, errors: complaint, crashed: process.terminationReason == .uncaughtSignal,
            status: process.terminationStatus)
    }

    private static func text(_ pipe: Pipe) async -> String {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                let data = (try? pipe.fileHandleForReading.readToEnd()) ?? Data()
                continuation.resume(
                    returning: String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
            }
        }
    }

    /// Where the test's own program lies.
    private static var products: URL {
        #if canImport(Darwin)
            Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL.deletingLastPathComponent()
                ?? Bundle.main.bundleURL
        #else
            URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        #endif
    }

    /// A program of the system's, if it is installed.
    static func find(_ name: String) -> URL? {
        ["/usr/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"].map { URL(filePath: "\($0)/\(name)") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }
}

/// A program of the system's that serves a test, and ends with it.
final class ServingProcess: @unchecked Sendable {
    private let process = Process()

    init(_ program: URL, _ arguments: [String], in directory: URL) throws {
        process.executableURL = program
        process.arguments = arguments
        process.currentDirectoryURL = directory
        process.standardInput = Pipe()
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try start(process)
    }

    var isRunning: Bool { process.isRunning }

    // It has nothing to tidy up, and waiting for it here could wait for ever: that needs a run loop.
    deinit { kill(process.processIdentifier, SIGKILL) }
}
