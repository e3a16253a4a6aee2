#if os(Linux) || os(macOS)
    import Foundation
    import LoaderChain

    /// A program that runs during a test, and is killed with it at the latest.
    ///
    /// Foundation's `Process` is not used, because its bookkeeping is not safe while another process is being started.
    public final class ChildProcess: Sendable {
        /// The standard input of a process.
        public enum Input: Sendable {
            /// Empty; reading it returns the end at once.
            case none
            /// Open and silent; it ends when the `ChildProcess` is released.
            case held
        }

        /// How it ended.
        public enum End: Equatable, Sendable {
            /// By itself, with this status.
            case exited(Int32)
            /// By this signal.
            case signalled(Int32)
        }

        /// Its standard output.
        public let output: ChildOutput
        /// Its standard error.
        public let errors: ChildOutput
        private let input: Descriptor?
        private let life: ChildLife

        /// Starts a program.
        ///
        /// - Parameters:
        ///   - program: the file to run.
        ///   - arguments: the arguments after the program's name.
        ///   - directory: the working directory; nil for that of the test.
        ///   - environment: its environment; nil for that of the test.
        ///   - input: its standard input.
        ///   - keepsOutput: whether the test reads its output, which is discarded otherwise.
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
            // The child has the other ends now. They close here, so that its output ends when it does.
        }

        // Does not wait for its end, which could take a while.
        deinit { life.send(SIGKILL) }

        /// Whether it has not ended yet.
        public var isRunning: Bool { life.end == nil }

        /// Sends it a signal, if it has not ended.
        public func send(_ signal: Int32) { life.send(signal) }

        /// Waits until it has ended.
        public func end() async -> End { await life.ended() }
    }

    /// Processes are started one at a time, so that none inherits descriptors of another.
    ///
    /// The value has a size: a thread sanitizer takes an access to one that has none for a write to what lies there.
    private let starting = Locked(false)
#endif
