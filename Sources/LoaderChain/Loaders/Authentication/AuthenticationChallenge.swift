/// One challenge of a server for credentials: a scheme with its parameters.
struct AuthenticationChallenge: Equatable {
    var scheme: String
    /// The parameters, by their names in lowercase.
    var parameters: [String: String] = [:]

    func isFor(_ scheme: String) -> Bool { ASCII.isEqualIgnoringCase(self.scheme, scheme) }

    /// The challenges of a response, in order.
    static func all(in headers: HTTPHeaders) -> [AuthenticationChallenge] {
        headers.values(for: "WWW-Authenticate").flatMap(parse)
    }

    /// Reads a header's value.
    ///
    /// Commas separate the parameters of a challenge as well as challenges. An element that begins with a word and no
    /// equals sign starts a challenge. Elements that cannot be read are skipped: some challenges are better than none.
    private static func parse(_ value: String) -> [AuthenticationChallenge] {
        var challenges: [AuthenticationChallenge] = []
        for element in elements(of: value) {
            var element = element
            let (word, rest) = splitAtBlank(element)
            if ASCII.isToken(word), !rest.hasPrefix("=") {
                challenges.append(AuthenticationChallenge(scheme: String(word)))
                element = rest
            }
            guard let equals = element.firstIndex(of: "="), !challenges.isEmpty else { continue }
            let name = trimmed(element[..<equals])
            guard ASCII.isToken(name) else { continue }
            challenges[challenges.count - 1].parameters[name.lowercased()] = unquoted(
                trimmed(element[element.index(after: equals)...]))
        }
        return challenges
    }

    /// The parts between commas that are not in quotes.
    private static func elements(of value: String) -> [Substring] {
        var elements: [Substring] = []
        var start = value.startIndex
        var isQuoted = false
        var isEscaped = false
        for index in value.unicodeScalars.indices {
            let scalar = value.unicodeScalars[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted, scalar == "\\" {
                isEscaped = true
            } else if scalar == "\"" {
                isQuoted.toggle()
            } else if scalar == ",", !isQuoted {
                elements.append(trimmed(value[start..<index]))
                start = value.unicodeScalars.index(after: index)
            }
        }
        elements.append(trimmed(value[start...]))
        return elements.filter { !$0.isEmpty }
    }

    private static func splitAtBlank(_ text: Substring) -> (Substring, Substring) {
        guard let blank = text.utf8.firstIndex(where: ASCII.isBlank) else { return (text, "") }
        return (text[..<blank], trimmed(text[blank...]))
    }

    private static func trimmed(_ text: Substring) -> Substring { Substring(ASCII.trimmed(text.utf8)) }

    private static func unquoted(_ text: Substring) -> String {
        guard text.utf8.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return String(text) }
        var unquoted = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in text.dropFirst().dropLast().unicodeScalars {
            isEscaped = scalar == "\\" && !isEscaped
            if !isEscaped { unquoted.append(scalar) }
        }
        return String(unquoted)
    }
}
