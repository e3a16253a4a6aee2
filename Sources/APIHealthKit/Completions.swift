/// Makes what shells complete of the syntax of all commands.
enum Completions {
    enum Shell: String, CaseIterable { case bash, zsh, fish }

    static func script(for shell: Shell, _ commands: [Syntax]) -> String {
        let lines =
            switch shell {
            case .bash: bash(commands)
            case .zsh: zsh(commands)
            case .fish: fish(commands)
            }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func bash(_ commands: [Syntax]) -> [String] {
        var lines = [
            "_apihealth() {",
            "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=demo",
            "    local options= paths= values= words=",
            "    if ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[1]} != -* ]]; then command=${COMP_WORDS[1]}; fi",
            "    case $command in",
        ]
        for syntax in commands {
            func names(_ options: [Syntax.Option]) -> String { options.map { "--" + $0.name }.joined(separator: " ") }
            lines += [
                "    \(syntax.command))",
                "        options='\(names(syntax.options)) --help'",
                "        paths='\(names(syntax.options.filter(\.isPath)))'",
                "        values='\(names(syntax.options.filter { $0.value != nil && !$0.isPath }))'",
                "        words='\(first(syntax, commands).joined(separator: " "))' ;;",
            ]
        }
        return lines + [
            "    esac",
            "    COMPREPLY=()",
            "    if [[ \" $values \" == *\" $before \"* ]]; then return; fi",
            "    if [[ \" $paths \" == *\" $before \"* ]]; then words=",
            "    elif [[ $word == -* ]]; then COMPREPLY=($(compgen -W \"$options\" -- \"$word\")); return",
            "    elif ((COMP_CWORD > 2)); then words=; fi",
            "    if [[ $words ]]; then COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))",
            "    else local IFS=$'\\n'; COMPREPLY=($(compgen -f -- \"$word\")); fi",
            "}",
            "complete -o filenames -F _apihealth apihealth",
        ]
    }

    private static func zsh(_ commands: [Syntax]) -> [String] {
        var lines = [
            "#compdef apihealth", "local command=demo", "[[ CURRENT -gt 2 && $words[2] != -* ]] && command=$words[2]",
            "case $command in",
        ]
        for syntax in commands {
            lines += ["\(syntax.command))", "    _arguments \\"]
            for option in syntax.options {
                let value = option.value.map { ":\(escape($0)):\(option.isPath ? "_files" : " ")" } ?? ""
                let repeats = option.repeats ? "*" : ""
                lines.append("        '\(repeats)--\(option.name)[\(escape(option.help))]\(value)' \\")
            }
            lines.append("        '--help[Show this help.]' \\")
            let words = first(syntax, commands)
            let place = syntax.command == "demo" ? "1" : "2"
            let choice = words.isEmpty ? "_files" : "(\(words.joined(separator: " ")))"
            if place == "2" { lines.append("        '1: :(\(syntax.command))' \\") }
            lines.append("        '\(place): :\(choice)' '*: :_files' ;;")
        }
        return lines + ["esac"]
    }

    private static func fish(_ commands: [Syntax]) -> [String] {
        let names = commands.map(\.command).joined(separator: " ")
        var lines = ["complete -c apihealth -n 'not __fish_seen_subcommand_from \(names)' -f"]
        for syntax in commands {
            let isDemo = syntax.command == "demo"
            let seen =
                isDemo ? "not __fish_seen_subcommand_from \(names)" : "__fish_seen_subcommand_from \(syntax.command)"
            let help = quote(syntax.summary)
            lines.append(
                "complete -c apihealth -n 'not __fish_seen_subcommand_from \(names)' -a \(syntax.command) -d \(help)")
            for option in syntax.options {
                let value = option.value == nil ? "" : option.isPath ? " -r -F" : " -x"
                lines.append("complete -c apihealth -n '\(seen)' -l \(option.name)\(value) -d \(quote(option.help))")
            }
            guard !isDemo, !syntax.words.isEmpty else { continue }
            lines.append("complete -c apihealth -n '\(seen)' -a '\(syntax.words.joined(separator: " "))'")
        }
        return lines
    }

    /// The words that may come first: commands for the program itself.
    private static func first(_ syntax: Syntax, _ commands: [Syntax]) -> [String] {
        syntax.command == "demo" ? commands.map(\.command) : syntax.words
    }

    private static func quote(_ text: String) -> String {
        "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
    }

    /// Text between apostrophes and brackets in a specification of zsh.
    private static func escape(_ text: String) -> String {
        text.replacing("'", with: "'\\''").replacing("[", with: "\\[").replacing("]", with: "\\]")
            .replacing(":", with: "\\:")
    }
}
