/// The first line of a screen or a summary: how many endpoints there are, and how many of them fail.
enum Headline {
    static func line(count: Int, failing: Int) -> StyledLine {
        var line = StyledLine("apihealth", .strong)
        line.add("  \(NumberText.count(count, "endpoint")), ")
        line.add(self.failing(failing), failing == 0 ? .good : .bad)
        return line
    }

    static func failing(_ count: Int) -> String { "\(count == 0 ? "none" : NumberText.count(count)) failing" }
}
