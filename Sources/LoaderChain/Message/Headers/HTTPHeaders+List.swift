extension HTTPHeaders {
    /// The elements of a header that is a comma-separated list, from all of its values and in order.
    ///
    /// Blanks around an element are removed, and so are empty elements. A comma within quotes separates too, so use
    /// this only for lists of tokens.
    package func list(for name: String) -> [String] {
        values(for: name).flatMap { $0.utf8.split(separator: UInt8(ascii: ",")) }
            .map { String(decoding: ASCII.trimmed($0), as: UTF8.self) }
            .filter { !$0.isEmpty }
    }

    /// Whether a header that is a comma-separated list has an element, in any case.
    package func list(for name: String, contains element: String) -> Bool {
        list(for: name).contains { ASCII.isEqualIgnoringCase($0, element) }
    }
}
