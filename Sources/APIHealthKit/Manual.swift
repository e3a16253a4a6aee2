/// Makes the manual page, in the language of troff, of the syntax of all commands.
enum Manual {
    static func page(_ commands: [Syntax]) -> String {
        var lines = [
            ".TH APIHEALTH 1 \"\" \"apihealth \(Version.number)\" \"User Commands\"",
            ".SH NAME", "apihealth \\- monitors HTTP APIs through a loader chain", ".SH SYNOPSIS",
        ]
        for syntax in commands { lines += [".B \(text(syntax.usage))", ".br"] }
        lines += [
            ".SH DESCRIPTION",
            "Without a command, apihealth runs a demo. On a terminal, the demo and the watch show a live screen;",
            "elsewhere they print lines. Tokens can be read from files and from the environment, so that no argument",
            "shows them.",
            ".SH COMMANDS",
        ]
        for syntax in commands {
            lines += [".SS \(text(syntax.usage))", text(syntax.summary)]
            for option in syntax.options {
                let value = option.value.map { " \\fI\(text($0))\\fR" } ?? ""
                lines += [".TP", "\\fB\(text("--" + option.name))\\fR\(value)", text(option.help)]
            }
            // The lines of notes are laid out already.
            if !syntax.notes.isEmpty { lines += [".PP", ".nf"] + syntax.notes.map(text) + [".fi"] }
        }
        lines += [".SH EXIT STATUS"]
        for (status, meaning) in ProgramStatus.table { lines += [".TP", ".B \(status.rawValue)", text(meaning)] }
        lines += [
            ".SH ENVIRONMENT", ".TP", ".B NO_COLOR", "If it is set and not empty, nothing is coloured.", ".TP",
            ".B TERM",
            "If it is dumb, there is no live screen and no colour.", ".TP", ".B XDG_STATE_HOME",
            "The directory with the spool folders; ~/.local/state by default.",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    /// Text that troff prints as it is.
    private static func text(_ text: String) -> String {
        let text = text.replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("…", with: "...")
            .replacing("“", with: "\\(lq").replacing("”", with: "\\(rq").replacing("'", with: "\\(aq")
            .replacing("~", with: "\\(ti")
        // A line that begins with a period or an apostrophe would be a command.
        return text.hasPrefix(".") ? "\\&" + text : text
    }
}
