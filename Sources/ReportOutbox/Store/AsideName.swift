// Store: the files of a box, their names and their form. It may use Coding, Reports and Settings.

/// The name of a report that was set aside: the one it had, and why.
struct AsideName: Hashable, Sendable {
    var name: RecordName
    /// The name of a ``ReportLoss``, in letters, digits and hyphens.
    let reason: String

    private static let longestReason = 40

    init(_ name: RecordName, because loss: ReportLoss) {
        self.init(name, reason: loss.name)
    }

    private init(_ name: RecordName, reason: String) {
        self.name = name
        self.reason = String(reason.unicodeScalars.filter(Self.isPlain).map(Character.init).prefix(Self.longestReason))
    }

    var text: String { name.text + "!" + reason }
    var path: String { ReportStore.asideFolder + "/" + text }

    /// What a file's name says, and whether the identifier is only a digest; nil if it is not the box's.
    static func read(_ text: String) -> (aside: AsideName, isDigested: Bool)? {
        guard let mark = text.lastIndex(of: "!") else { return nil }
        let reason = String(text[text.index(after: mark)...])
        let aside: AsideName
        let isDigested: Bool
        switch RecordName.read(String(text[..<mark])) {
        case .foreign: return nil
        case .name(let name): (aside, isDigested) = (AsideName(name, reason: reason), false)
        case .digested(let name): (aside, isDigested) = (AsideName(name, reason: reason), true)
        }
        return isDigested || aside.text == text ? (aside, isDigested) : nil
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "-" || "a"..."z" ~= scalar || "A"..."Z" ~= scalar || "0"..."9" ~= scalar
    }
}
