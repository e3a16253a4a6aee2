/// The source of a multipart body's boundary.
enum MultipartBoundary: Sendable {
    /// The first candidate from this seed that occurs nowhere.
    case drawn(seed: UInt64)

    /// This boundary, or an error.
    case given(String)

    /// A boundary that occurs in none of the sections.
    func settled(for sections: [MultipartLayout.Section]) throws(HTTPBodyError) -> String {
        switch self {
        case .drawn(let seed):
            // The loop ends, because n bytes contain fewer than n candidates.
            var candidates = Candidates(seed: seed)
            while true {
                let candidate = candidates.next()
                if try !BoundarySearch(candidate).finds(in: sections) { return candidate }
            }
        case .given(let boundary):
            try Self.validate(boundary)
            if try BoundarySearch(boundary).finds(in: sections) {
                throw HTTPBodyError(
                    "The boundary “\(boundary)” occurs in a part; give another, or none to have one drawn.")
            }
            return boundary
        }
    }

    /// The boundary as the content type's parameter, in quotes where it needs them.
    static func parameter(_ boundary: String) -> String {
        ASCII.isToken(boundary) ? boundary : "\"\(boundary)\""
    }

    private static let longest = 70
    private static let marks = " '()+_,-./:=?"
    private static let allowed = ASCIISet(ASCIISet.alphanumerics + marks)

    private static func validate(_ boundary: String) throws(HTTPBodyError) {
        let isValid =
            1...longest ~= boundary.utf8.count && boundary.utf8.allSatisfy(allowed.contains) && boundary.last != " "
        guard isValid else {
            throw HTTPBodyError(
                """
                “\(ASCII.printable(boundary))” cannot be a boundary; use 1 to \(longest) letters, digits and \
                any of “\(marks)”, with no space at the end.
                """)
        }
    }
}

extension MultipartBoundary {
    /// An endless sequence of boundaries, the same for the same seed.
    private struct Candidates {
        private var generator: SeededGenerator

        init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

        mutating func next() -> String {
            hexadecimal(generator.next()) + hexadecimal(generator.next())
        }

        private func hexadecimal(_ number: UInt64) -> String {
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
    }
}
