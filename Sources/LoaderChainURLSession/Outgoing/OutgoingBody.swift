// Outgoing: a request and its body in the form that the session sends. It may use Options, and Incoming for temporary files.

import Foundation
import LoaderChain

/// A body in a form that the session can send without holding a file in memory.
struct OutgoingBody: Sendable {
    enum Source: Sendable {
        case none
        case data(Data)
        /// Bytes of a known length that the session reads as it needs them.
        case content(HTTPBodyContent, length: Int64)
        case file(URL)
    }

    let source: Source
    /// The file that was written for this body, to be removed afterwards.
    var temporaryFile: URL?

    var hasBytes: Bool {
        if case .none = source { false } else { true }
    }

    /// Returns nil for a body that has to be written into a file first.
    ///
    /// On all platforms that is a body with a stream, whose next piece may take any time. On Apple systems it is also a
    /// body of several segments.
    init?(_ content: HTTPBodyContent) {
        if content.length == 0 {
            source = .none
        } else if content.segments.count == 1, case .data(let data) = content.segments[0] {
            source = .data(data)
        } else {
            #if canImport(FoundationNetworking)
                let hasStream = content.segments.contains {
                    if case .stream = $0 { true } else { false }
                }
                guard let length = content.length, !hasStream else { return nil }
                source = .content(content, length: length)
            #else
                guard content.segments.count == 1, case .file(let slice) = content.segments[0], slice.isWholeFile else {
                    return nil
                }
                source = .file(slice.url)
            #endif
        }
    }

    /// A body in a temporary file that was written for it.
    init(temporaryFile url: URL) throws {
        #if canImport(FoundationNetworking)
            let content = try HTTPBodyContent.file(url)
            source = .content(content, length: content.length ?? 0)
        #else
            source = .file(url)
        #endif
        temporaryFile = url
    }
}
