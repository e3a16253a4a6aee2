/// Text for a terminal, in which what could steer one has lost its power.
enum Plain {
    /// The text with a question mark in the place of every control character.
    static func text(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            scalars.append(isControl(scalar) ? "?" : scalar)
        }
        return String(scalars)
    }

    /// Control characters of both sets, and those that turn the direction of writing around.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// The text with spaces behind it.
    static func pad(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// The text with spaces before it.
    static func padLeft(_ text: String, to width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    /// The text, shortened in its middle if it is longer than `width`.
    static func fit(_ text: String, to width: Int) -> String {
        guard text.count > width else { return text }
        guard width > 1 else { return String(text.prefix(max(0, width))) }
        let tail = (width - 1) / 2
        return text.prefix(width - 1 - tail) + "…" + text.suffix(tail)
    }
}
