// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// What the bridge to AsyncHTTPClient uses of NIOCore. Nothing runs.

public struct ByteBuffer: Sendable {
    public init(bytes: some Sequence<UInt8>) { fatalError() }
    public var readableBytesView: ByteBufferView { fatalError() }
}

public struct ByteBufferView: RandomAccessCollection, Sendable {
    public var startIndex: Int { fatalError() }
    public var endIndex: Int { fatalError() }
    public subscript(position: Int) -> UInt8 { fatalError() }
}

public struct NIODeadline: Sendable {
    public static let distantFuture = NIODeadline()
}

public struct NIOTooManyBytesError: Error {}

public struct IOError: Error {
    public var errnoCode: CInt
}
