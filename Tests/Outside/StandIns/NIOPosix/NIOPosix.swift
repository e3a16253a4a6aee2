// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// What the bridge to AsyncHTTPClient uses of NIOPosix. Nothing runs.

public struct NIOConnectionError: Error {}
