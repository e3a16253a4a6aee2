import Foundation
import LoaderChain

/// How the body of a response is delivered.
public enum ResponseDelivery: HTTPRequestOption {
    /// Whole and in memory, up to the limit of the loader.
    public static var defaultOptionValue: ResponseDelivery { .inMemory }

    /// Whole, in `HTTPResponse.body`, up to the limit of the loader.
    public static var inMemory: ResponseDelivery { .inMemory(upTo: nil) }

    /// Whole, in `HTTPResponse.body`, up to a number of bytes; nil for the limit of the loader.
    ///
    /// A larger one fails with `HTTPError.Code.responseTooLarge`: at once where the server announces its
    /// size, otherwise with the first byte too many.
    case inMemory(upTo: Int?)

    /// As it arrives, in `HTTPResponse.chunks`, of any size.
    ///
    /// The task is complete once the head is there; what comes later, the chain's retries and limits do not see. A reset
    /// still ends it. However slow the reader is, no more than a megabyte of it is in memory. What exceeds that waits in a
    /// temporary file.
    case chunks

    /// Into a file, which is at its place once it is complete, and not before; `HTTPResponse.file` names it.
    ///
    /// A file that is there already is replaced. Only a response that says success goes there: any other is delivered in
    /// memory, since it explains an error and is not what the file is meant for. If something fails, nothing is left
    /// behind.
    case file(URL)
}

extension HTTPRequest {
    /// How the body of the response is delivered; whole and in memory unless something else is said.
    ///
    /// ```swift
    /// var request = HTTPRequest(url: url)
    /// request.delivery = .file(URL(filePath: "/tmp/film.mp4"))
    /// let file = try await chain.load(request).file
    /// ```
    public var delivery: ResponseDelivery {
        get { self[option: ResponseDelivery.self] }
        set { self[option: ResponseDelivery.self] = newValue }
    }
}
