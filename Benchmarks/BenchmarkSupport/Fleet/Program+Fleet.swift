import LoaderChainPlatformFoundation

extension Program {
    /// Simulates fleets of every size and kind, the largest last.
    func runFleet(_ options: Options) throws -> Int32 {
        try options.markdownPath.map(checkDocument)
        let sizes = options.isQuick ? quickFleets : fleets
        let all = sizes.flatMap { size in FleetWay.allCases.map { (size, $0) } }
        let runs = all.enumerated().map { index, fleet in
            let clients = Numbers.short(Double(fleet.0))
            console.showProgress("\(index + 1)/\(all.count)  \(clients) clients, \(fleet.1.rawValue)")
            return FleetRun(fleet.1, .fleet(of: fleet.0))
        }
        console.showProgress("")
        let report = FleetReport(host: host, runs: runs)
        console.print("\(host.cpu), \(host.cores) cores, \(host.os), Swift \(host.swift)\n")
        report.table.lines(styled: console.isStyled).forEach(console.print)
        console.print("")
        report.growth.lines(styled: console.isStyled).forEach(console.print)

        if let path = options.plotPath {
            let curves = report.curves
            try write(Data(curves.requests.svg().utf8), to: "\(path)/fleet-requests.svg")
            try write(Data(curves.answers.svg().utf8), to: "\(path)/fleet-answers.svg")
            try write(Data(curves.csv.utf8), to: "\(path)/fleet.csv")
        }
        if let path = options.markdownPath { try refreshDocument(path, report.lines) }
        return 0
    }
}
