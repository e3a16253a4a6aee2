/// The call stacks of a diagnostic.
///
/// A tree may be a thousand frames deep. The frames of each stack are in one list, every frame before those inside it, so that
/// no recursion is needed to go through them:
///
/// ```swift
/// let payload = try DiagnosticPayload(data)
/// for stack in payload.diagnostics.first?.callStackTree?.stacks ?? [] where stack.isAttributed {
///     for frame in stack.frames { print(String(repeating: " ", count: frame.depth), frame.binary?.name ?? "?") }
/// }
/// ```
public struct CallStackTree: Sendable, Hashable {
    /// A binary.
    public struct Binary: Sendable, Hashable {
        /// The name.
        public let name: String?
        /// The identifier of the build, for symbolication.
        public let uuid: String?
    }

    /// A frame.
    public struct Frame: Sendable, Hashable {
        /// The binary.
        public let binary: Binary?
        /// The address in memory.
        public let address: UInt64?
        /// The offset in the binary's text segment.
        public let offset: UInt64?
        /// How often it was sampled.
        public let sampleCount: Int?
        /// The number of frames around it.
        public let depth: Int
        /// The index of the frame around it; nil for the outermost.
        public let parent: Int?
    }

    /// The stack of a thread, or of several together.
    public struct Stack: Sendable, Hashable {
        /// Whether the diagnostic is attributed to this stack.
        public let isAttributed: Bool
        /// The frames, each before those inside it.
        public let frames: [Frame]
    }

    /// Whether there is a stack for each thread; otherwise the threads are merged.
    public let isPerThread: Bool?
    /// The stacks.
    public let stacks: [Stack]
}
