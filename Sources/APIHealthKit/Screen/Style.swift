/// What steers a terminal.
enum Escape {
    static let hideCursor = "\u{1B}[?25l"
    static let showCursor = "\u{1B}[?25h"
    /// Wipes what is right of the cursor.
    static let clearLine = "\u{1B}[K"
    /// Wipes what is below the cursor.
    static let clearBelow = "\u{1B}[J"

    static func up(_ lines: Int) -> String { lines > 0 ? "\u{1B}[\(lines)A" : "" }
}

/// What a piece of text says, from which its colour follows.
enum Role: Sendable {
    /// Nothing special.
    case plain
    /// What is looked at first.
    case strong
    /// What is looked at last.
    case faint
    case good
    case warning
    case bad
    /// The pictures.
    case accent

    fileprivate var code: String? {
        switch self {
        case .plain: nil
        case .strong: "1"
        case .faint: "2"
        case .good: "32"
        case .warning: "33"
        case .bad: "31"
        case .accent: "36"
        }
    }
}

/// Paints text, or does not.
struct Style: Sendable {
    let isColoured: Bool

    func paint(_ text: String, _ role: Role) -> String {
        guard isColoured, let code = role.code, !text.isEmpty else { return text }
        return "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }
}

/// A line made of pieces with roles, whose width is known because it is painted last.
struct StyledLine: Sendable, ExpressibleByStringLiteral {
    private var pieces: [(text: String, role: Role)] = []

    init() {}
    init(stringLiteral text: String) { add(text) }
    init(_ text: String, _ role: Role = .plain) { add(text, role) }

    /// How many columns it takes.
    var width: Int { pieces.reduce(0) { $0 + $1.text.count } }

    mutating func add(_ text: String, _ role: Role = .plain) { pieces.append((text, role)) }

    mutating func add(_ line: StyledLine) { pieces += line.pieces }

    /// Adds spaces until it is so wide.
    mutating func pad(to width: Int) { add(String(repeating: " ", count: max(0, width - self.width))) }

    /// The line as it is written, cut off where there is no more room.
    func text(_ style: Style, columns: Int = .max) -> String {
        var room = columns
        var text = ""
        for piece in pieces where room > 0 {
            let part = String(piece.text.prefix(room))
            text += style.paint(part, piece.role)
            room -= part.count
        }
        return text
    }
}
