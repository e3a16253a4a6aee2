/// Text that is safe to print on a terminal, whatever it came from.
enum Plain {
    /// The text with a question mark for every control character.
    static func text(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            scalars.append(isControl(scalar) ? "?" : scalar)
        }
        return String(scalars)
    }

    /// Control characters, line separators, and marks that change the writing direction.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    static func pad(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    static func padLeft(_ text: String, to width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    /// The text, shortened in the middle if it is longer than `width`.
    static func fit(_ text: String, to width: Int) -> String {
        guard text.count > width else { return text }
        guard width > 1 else { return String(text.prefix(max(0, width))) }
        let tail = (width - 1) / 2
        return text.prefix(width - 1 - tail) + "…" + text.suffix(tail)
    }
}
