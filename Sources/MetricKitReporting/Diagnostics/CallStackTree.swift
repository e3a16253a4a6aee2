/// Where threads were when something went wrong.
///
/// A tree may be a thousand frames deep. Its frames lie in one list for each stack, every frame before those inside it, so that
/// nobody needs recursion to go through them:
///
/// ```swift
/// let payload = try DiagnosticPayload(data)
/// for stack in payload.diagnostics.first?.callStackTree?.stacks ?? [] where stack.isAttributed {
///     for frame in stack.frames { print(String(repeating: " ", count: frame.depth), frame.binary?.name ?? "?") }
/// }
/// ```
public struct CallStackTree: Sendable, Hashable {
    /// A file of code.
    public struct Binary: Sendable, Hashable {
        /// Its name.
        public let name: String?
        /// What tells one build of it from another, for finding its symbols.
        public let uuid: String?
    }

    /// A call.
    public struct Frame: Sendable, Hashable {
        /// The code that it is in.
        public let binary: Binary?
        /// Where that is in memory.
        public let address: UInt64?
        /// Where that is in the code.
        public let offset: UInt64?
        /// How often it was seen there.
        public let sampleCount: Int?
        /// How many frames it lies inside of.
        public let depth: Int
        /// The frame that it lies inside of, by its place in the list; nil for the outermost.
        public let parent: Int?
    }

    /// The calls of a thread, or of several together.
    public struct Stack: Sendable, Hashable {
        /// Whether what went wrong went wrong here.
        public let isAttributed: Bool
        /// The frames, each before those inside it.
        public let frames: [Frame]
    }

    /// Whether there is a stack for each thread; otherwise they are taken together.
    public let isPerThread: Bool?
    /// The stacks.
    public let stacks: [Stack]
}
