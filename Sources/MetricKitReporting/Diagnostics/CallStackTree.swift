/// The call stacks of a diagnostic.
///
/// A tree may be a thousand frames deep. The frames of each stack are in one list, each frame before its inner frames, so that
/// they can be traversed without recursion:
///
/// ```swift
/// let payload = try DiagnosticPayload(data)
/// for stack in payload.diagnostics.first?.callStackTree?.stacks ?? [] where stack.isAttributed {
///     for frame in stack.frames { print(String(repeating: " ", count: frame.depth), frame.binary?.name ?? "?") }
/// }
/// ```
public struct CallStackTree: Sendable, Hashable {
    /// The binary that the address of a frame is in, for symbolication.
    public struct Binary: Sendable, Hashable {
        /// The name.
        public let name: String?
        /// The identifier of the build, for symbolication.
        public let uuid: String?
    }

    /// A frame of a stack: an address, and how often it was sampled.
    public struct Frame: Sendable, Hashable {
        /// The binary.
        public let binary: Binary?
        /// The address in memory.
        public let address: UInt64?
        /// The offset in the binary's text segment.
        public let offset: UInt64?
        /// The number of samples.
        public let sampleCount: Int?
        /// The number of enclosing frames.
        public let depth: Int
        /// The index of the enclosing frame; nil for the outermost.
        public let parent: Int?
    }

    /// The stack of a thread, or the merged stack of several threads.
    public struct Stack: Sendable, Hashable {
        /// Whether the diagnostic is attributed to this stack.
        public let isAttributed: Bool
        /// The frames, each before its inner frames.
        public let frames: [Frame]
    }

    /// Whether there is a stack for each thread; otherwise the threads are merged.
    public let isPerThread: Bool?
    /// The stacks.
    public let stacks: [Stack]
}

extension CallStackTree {
    /// Reads a tree; nil if the value is not a tree or has too many frames.
    ///
    /// Values that are not frames become leftovers; further members of trees, stacks and frames are only in the JSON.
    init?(_ node: JSONNode, path: String, _ context: PayloadContext) {
        guard let callStacks = node["callStacks"], callStacks.kind == .array else { return nil }
        var reading = CallStackReading(path: path, context)
        isPerThread = node["callStackPerThread"].flatMap(SectionReader.bool)
        stacks = callStacks.elements.compactMap { stack in
            guard stack.kind == .object else {
                context.leave(stack, at: path, .notUnderstood)
                return nil
            }
            let isAttributed = stack["threadAttributed"].flatMap(SectionReader.bool) ?? false
            return Stack(isAttributed: isAttributed, frames: reading.frames(stack["callStackRootFrames"]))
        }
        if reading.isTooLarge { return nil }
    }
}

/// Flattens nested frames into a list.
private struct CallStackReading {
    private let path: String
    private let context: PayloadContext
    /// Thousands of frames name the same few binaries.
    private var binaries = KnownBinaries()
    private var frameCount = 0

    var isTooLarge: Bool { frameCount > JSONLimits.frames }

    init(path: String, _ context: PayloadContext) {
        self.path = path
        self.context = context
    }

    mutating func frames(_ roots: JSONNode?) -> [CallStackTree.Frame] {
        guard let roots else { return [] }
        var frames: [CallStackTree.Frame] = []
        // The open lists, the innermost last. Recursion could overflow the stack.
        var open = [(rest: roots.elements, parent: Int?.none)]
        while let last = open.indices.last, !isTooLarge {
            guard let node = open[last].rest.next() else {
                open.removeLast()
                continue
            }
            guard node.kind == .object else {
                context.leave(node, at: path, .notUnderstood)
                continue
            }
            let inner = append(node, to: &frames, parent: open[last].parent, depth: last)
            if let inner { open.append((inner.elements, frames.count - 1)) }
        }
        return frames
    }

    /// Appends a frame, and returns its list of inner frames.
    private mutating func append(
        _ node: JSONNode, to frames: inout [CallStackTree.Frame], parent: Int?, depth: Int
    ) -> JSONNode? {
        var (name, uuid): (JSONNode?, JSONNode?)
        var (address, offset): (UInt64?, UInt64?)
        var sampleCount: Int?
        var inner: JSONNode?
        for (key, value) in node.members {
            if key.isText("binaryName") {
                name = value
            } else if key.isText("binaryUUID") {
                uuid = value
            } else if key.isText("address") {
                address = value.number?.exactInteger.flatMap { UInt64(exactly: $0) }
            } else if key.isText("offsetIntoBinaryTextSegment") {
                offset = value.number?.exactInteger.flatMap { UInt64(exactly: $0) }
            } else if key.isText("sampleCount") {
                sampleCount = SectionReader.count(value)
            } else if key.isText("subFrames"), value.kind == .array {
                inner = value
            }
        }
        let binary = binaries.binary(name, uuid)
        frameCount += 1
        frames.append(
            CallStackTree.Frame(
                binary: binary, address: address, offset: offset, sampleCount: sampleCount, depth: depth, parent: parent
            ))
        return inner
    }
}

/// The most recent binaries, so that a name is stored once for all of its frames.
private struct KnownBinaries {
    private var known: [(name: ArraySlice<UInt8>?, uuid: ArraySlice<UInt8>?, binary: CallStackTree.Binary?)] = []
    private var next = 0

    private static let most = 8

    mutating func binary(_ name: JSONNode?, _ uuid: JSONNode?) -> CallStackTree.Binary? {
        if name == nil, uuid == nil { return nil }
        let (rawName, rawUUID) = (name?.bytes, uuid?.bytes)
        if let found = known.first(where: { $0.name == rawName && $0.uuid == rawUUID }) { return found.binary }
        // A binary needs a name or an identifier.
        let (nameText, uuidText) = (name?.text, uuid?.text)
        let binary =
            nameText == nil && uuidText == nil ? nil : CallStackTree.Binary(name: nameText, uuid: uuidText)
        if known.count < Self.most {
            known.append((rawName, rawUUID, binary))
        } else {
            known[next % Self.most] = (rawName, rawUUID, binary)
            next += 1
        }
        return binary
    }
}
