import LoaderChainPlatformFoundation

/// A body of named parts, as a web form with files sends them: `multipart/form-data`.
///
///     let body = MultipartBody([
///         .field("title", "Holiday"),
///         .file("photo", url, contentType: "image/jpeg"),
///     ])
///
/// Parts are separated by a line, the boundary, which occurs in none of them. Candidates are made from a seed that is
/// fixed when the body is made, until one occurs nowhere. The boundary is chosen at the first use of the headers or the
/// content, and then holds for every copy of the body. Choosing it reads all files, which must not change until the
/// request is done. If it fails, because a file is missing, make a new body.
public struct MultipartBody: HTTPBody {
    /// The parts, in order.
    public let parts: [Part]

    private let subtype: String
    private let boundary: MultipartBoundary
    private let settlement = Locked<Settlement?>(nil)

    private typealias Settlement = Result<MultipartLayout, HTTPBodyError>

    /// The body of `parts`, of the type `multipart/` and `subtype`.
    public init(_ parts: [Part], subtype: String = "form-data") {
        var generator = SystemRandomNumberGenerator()
        self.init(parts, subtype: subtype, using: &generator)
    }

    /// The body of `parts`, with a boundary from `generator`: the same random numbers give the same bytes.
    public init(_ parts: [Part], subtype: String = "form-data", using generator: inout some RandomNumberGenerator) {
        self.init(parts, subtype: subtype, boundary: .drawn(seed: generator.next()))
    }

    /// The body of `parts`, with the given boundary.
    ///
    /// The boundary has 1 to 70 letters, digits, spaces and `'()+_,-./:=?`, and does not end with a space. If it is
    /// something else, or occurs in a part, ``encode()`` throws.
    public init(_ parts: [Part], subtype: String = "form-data", boundary: String) {
        self.init(parts, subtype: subtype, boundary: .given(boundary))
    }

    private init(_ parts: [Part], subtype: String, boundary: MultipartBoundary) {
        self.parts = parts
        self.subtype = subtype
        self.boundary = boundary
    }

    /// The content type with the boundary, or none for a body that ``encode()`` would refuse.
    public var additionalHeaders: HTTPHeaders {
        guard let layout = try? settled().get() else { return HTTPHeaders() }
        return ["Content-Type": "multipart/\(subtype); boundary=\(MultipartBoundary.parameter(layout.boundary))"]
    }

    /// The parts between their boundaries; throws if they cannot be sent.
    public func encode() throws(HTTPBodyError) -> HTTPBodyContent {
        try settled().get().content()
    }

    private func settled() -> Settlement {
        if let known = settlement.withLock({ $0 }) { return known }
        // Reading files takes long, so it happens outside the lock. Of several threads that do it at once, the first to
        // finish decides, and the others use its boundary.
        let found = settle()
        return settlement.withLock { known in
            if let known { return known }
            known = found
            return found
        }
    }

    private func settle() -> Settlement {
        do throws(HTTPBodyError) {
            guard ASCII.isToken(subtype) else {
                throw HTTPBodyError(
                    "“\(ASCII.printable(subtype))” is not a subtype of multipart; use one word, such as “form-data”.")
            }
            var sections: [MultipartLayout.Section] = []
            for part in parts { sections.append(try part.section()) }
            return .success(MultipartLayout(boundary: try boundary.settled(for: sections), sections: sections))
        } catch {
            return .failure(error)
        }
    }
}
