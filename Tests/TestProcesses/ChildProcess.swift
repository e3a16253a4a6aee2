#if os(Linux) || os(macOS)
    import Foundation
    import LoaderChain

    #if canImport(Darwin)
        import Darwin
    #elseif canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// A program that runs beside a test, and ends with it at the latest.
    ///
    /// It is not Foundation's `Process`, whose bookkeeping is not safe while another one is being started.
    public final class ChildProcess: Sendable {
        /// What it reads.
        public enum Input: Sendable {
            /// Nothing; it finds the end at once.
            case none
            /// Nothing yet: the end comes when the process is let go of.
            case held
        }

        /// How it ended.
        public enum End: Equatable, Sendable {
            /// By itself, with this status.
            case exited(Int32)
            /// By this signal.
            case signalled(Int32)
        }

        /// What it writes to its standard output.
        public let output: ChildOutput
        /// What it writes to its standard error.
        public let errors: ChildOutput
        private let input: Descriptor?
        private let life: ChildLife

        /// Starts a program.
        ///
        /// - Parameters:
        ///   - program: the file to run.
        ///   - arguments: what follows the program's name.
        ///   - directory: where it runs; nil for where the test does.
        ///   - environment: its environment; nil for the test's own.
        ///   - input: what it reads.
        ///   - keepsOutput: whether somebody is going to read what it writes; otherwise it is thrown away.
        public init(
            _ program: URL, _ arguments: [String] = [], in directory: URL? = nil, environment: [String: String]? = nil,
            input: Input = .none, keepsOutput: Bool = true
        ) throws {
            (life, self.output, errors, self.input) = try starting.withLock { _ in
                let nothing = try Descriptor(opening: "/dev/null")
                let output = try DescriptorPair()
                let errors = try DescriptorPair()
                let held = input == .held ? try DescriptorPair() : nil
                let number = try Spawning.start(
                    program.path, arguments, in: directory?.path,
                    environment: environment ?? ProcessInfo.processInfo.environment,
                    descriptors: [
                        (held?.reading ?? nothing).number, (keepsOutput ? output.writing : nothing).number,
                        (keepsOutput ? errors.writing : nothing).number,
                    ])
                return (ChildLife(number), ChildOutput(output.reading), ChildOutput(errors.reading), held?.writing)
            }
            // The other ends are the child's alone now: they close here, and what it wrote has an end when it does.
        }

        // Nobody waits for it here: it could take its time.
        deinit { life.send(SIGKILL) }

        /// Whether it has not ended yet.
        public var isRunning: Bool { life.end == nil }

        /// Sends it a signal, if it has not ended.
        public func send(_ signal: Int32) { life.send(signal) }

        /// Waits for its end.
        public func end() async -> End { await life.ended() }
    }

    /// One process is started after the other, so that none inherits what is made for another.
    private let starting = Guarded(())
#endif
