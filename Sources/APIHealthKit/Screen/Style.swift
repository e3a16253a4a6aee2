/// The control sequences for a terminal.
enum Escape {
    static let hideCursor = "\u{1B}[?25l"
    static let showCursor = "\u{1B}[?25h"
    /// Clears to the end of the line.
    static let clearLine = "\u{1B}[K"
    /// Clears everything below the cursor.
    static let clearBelow = "\u{1B}[J"

    static func up(_ lines: Int) -> String { lines > 0 ? "\u{1B}[\(lines)A" : "" }
}

/// The meaning of a piece of text, which determines its colour.
enum Role: Sendable {
    case plain
    /// Read first.
    case strong
    /// Read last.
    case faint
    case good
    case warning
    case bad
    /// Bars and charts.
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

/// Colours text, or leaves it plain.
struct Style: Sendable {
    let isColoured: Bool

    func paint(_ text: String, _ role: Role) -> String {
        guard isColoured, let code = role.code, !text.isEmpty else { return text }
        return "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }
}

/// A line of pieces with roles, which is coloured last so that its width is known.
struct StyledLine: Sendable, ExpressibleByStringLiteral {
    private var pieces: [(text: String, role: Role)] = []

    init() {}
    init(stringLiteral text: String) { add(text) }
    init(_ text: String, _ role: Role = .plain) { add(text, role) }

    var width: Int { pieces.reduce(0) { $0 + $1.text.count } }

    mutating func add(_ text: String, _ role: Role = .plain) { pieces.append((text, role)) }

    mutating func add(_ line: StyledLine) { pieces += line.pieces }

    mutating func pad(to width: Int) { add(String(repeating: " ", count: max(0, width - self.width))) }

    /// The coloured line, truncated to the given number of columns.
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
