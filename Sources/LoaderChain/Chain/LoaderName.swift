/// What a loader is called in descriptions and errors.
///
/// A task remembers who has it, and may outlive that loader. So names are kept for the life of the process, one of each,
/// and a task can note one with a plain store where a reference to the loader would cost two atomic operations per node.
final class LoaderName: Sendable {
    let text: String

    private init(_ text: String) { self.text = text }

    private static let known = Guarded<[String: LoaderName]>([:])

    static func named(_ text: String) -> LoaderName {
        known.withLock { names in
            if let name = names[text] { return name }
            let name = LoaderName(text)
            names[text] = name
            return name
        }
    }
}
