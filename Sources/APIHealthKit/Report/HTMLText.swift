/// Text as it stands in a page.
enum HTMLText {
    /// The text with everything escaped that means something in a page.
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
        // Control characters mean nothing good anywhere.
        return Plain.text(escaped)
    }

    /// A row of a table.
    static func row(_ cells: [String], head: Bool = false) -> String {
        let tag = head ? "th" : "td"
        return "<tr>" + cells.map { "<\(tag)>\($0)</\(tag)>" }.joined() + "</tr>"
    }

    /// A number for a place in a picture.
    static func place(_ value: Double) -> String { NumberText.text(value, digits: 1) }
}
