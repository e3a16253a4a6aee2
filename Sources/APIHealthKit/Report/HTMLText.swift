enum HTMLText {
    static func escape(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return Plain.text(escaped)
    }

    static func row(_ cells: [String], head: Bool = false) -> String {
        let tag = head ? "th" : "td"
        return "<tr>" + cells.map { "<\(tag)>\($0)</\(tag)>" }.joined() + "</tr>"
    }

    /// A coordinate in an SVG picture.
    static func place(_ value: Double) -> String { NumberText.text(value, digits: 1) }
}
