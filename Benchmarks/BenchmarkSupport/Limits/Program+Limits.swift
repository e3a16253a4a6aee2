import LoaderChainPlatformFoundation

extension Program {
    /// Tries the adaptive limit and its peers with simulated servers; status 1 if a peer holds more than it.
    func runLimits(_ options: Options) throws -> Int32 {
        try options.markdownPath.map(checkDocument)
        let report = LimitReport(seeds: options.isQuick ? 1 : 5, progress: console.showProgress)
        console.showProgress("")
        for (title, table) in report.tables {
            console.print(title + "\n")
            table.lines(styled: console.isStyled).forEach(console.print)
            console.print("")
        }
        report.sum.lines(styled: console.isStyled).forEach(console.print)
        console.print("")
        report.defeats.forEach(console.print)

        if let path = options.plotPath {
            let curves = LimitCurves()
            try write(Data(curves.limits.svg().utf8), to: "\(path)/limits.svg")
            try write(Data(curves.queue.svg().utf8), to: "\(path)/queue.svg")
            try write(Data(curves.csv.utf8), to: "\(path)/limits.csv")
        }
        if let path = options.markdownPath { try refreshDocument(path, report.lines) }
        return report.totals.dropFirst().allSatisfy { $0 < report.totals[0] } ? 0 : 1
    }
}
