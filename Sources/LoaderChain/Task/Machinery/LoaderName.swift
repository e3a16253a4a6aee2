/// The name of a loader in descriptions and errors, as a number that stands for the text.
///
/// A task remembers which loader has it, and may outlive that loader. Names are therefore kept for the life of the
/// process, each once, and a task notes a name with a plain store, where a reference would cost two atomic operations
/// per loader.
struct LoaderName {
    /// The position in the list of all names, counted from one.
    let number: Int

    private struct Known {
        var numbers: [String: Int] = [:]
        var texts: [String] = []
    }

    private static let known = Locked(Known())

    init(_ text: String) {
        number = Self.known.withLock { known in
            if let number = known.numbers[text] { return number }
            known.texts.append(text)
            known.numbers[text] = known.texts.count
            return known.texts.count
        }
    }

    /// The text for a number; nil for zero, which means no name.
    static func text(_ number: Int) -> String? {
        number == 0 ? nil : known.withLock { $0.texts[number - 1] }
    }
}
