import LoaderChainPlatformFoundation

/// How the body of a response is delivered.
///
/// Terminals that transfer over a network honour it. Other loaders that respond, such as ``MockLoader``, always deliver in memory;
/// ``HTTPResponse/lines(upTo:)`` and ``HTTPResponse/serverSentEvents(upTo:)`` read a body however it was delivered.
public enum ResponseDelivery: HTTPRequestOption {
    /// In memory, up to the terminal's limit.
    public static var defaultOptionValue: ResponseDelivery { .inMemory }

    /// In memory, as `HTTPResponse.body`, up to the terminal's limit.
    public static var inMemory: ResponseDelivery { .inMemory(upTo: nil) }

    /// In memory, as `HTTPResponse.body`, up to a number of bytes; nil for the terminal's limit.
    ///
    /// A larger body fails with `HTTPError.Code.responseTooLarge`: at once if the server announces its size, otherwise
    /// with the first byte beyond the limit.
    case inMemory(upTo: Int?)

    /// As it arrives, as `HTTPResponse.chunks`, of any size.
    ///
    /// The task completes when the head has arrived, so the chain's retries and limits do not cover the body. A reset
    /// still ends it. However slow the reader is, at most a megabyte of the body is in memory; the rest waits in a
    /// temporary file.
    case chunks

    /// In a file, named by `HTTPResponse.file`, which appears only once it is complete.
    ///
    /// An existing file is replaced. Only the body of a successful response goes there; any other explains an error, and
    /// is delivered in memory. If something fails, nothing is left behind.
    case file(URL)

    /// Only what is delivered in memory: two attempts would write to one file, and chunks have one reader.
    public static func allowsTwoAttempts(with value: ResponseDelivery) -> Bool {
        if case .inMemory = value { true } else { false }
    }
}

extension HTTPRequest {
    /// How the body of the response is delivered; in memory by default.
    ///
    /// ```swift
    /// var request = HTTPRequest(url: url)
    /// request.delivery = .file(URL(filePath: "/tmp/film.mp4"))
    /// let file = try await chain.load(request).file
    /// ```
    ///
    /// A ``Hedge`` does not send a request twice whose body goes to a file or is delivered in chunks, unless its
    /// ``hedging`` is ``HedgingOption/allowed``.
    public var delivery: ResponseDelivery {
        get { self[option: ResponseDelivery.self] }
        set { self[option: ResponseDelivery.self] = newValue }
    }
}
