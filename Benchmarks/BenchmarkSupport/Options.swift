struct Options: Equatable {
    /// An invalid command line: what is wrong and what to do, in one line.
    struct Mistake: Error, Equatable {
        let text: String
    }

    /// Whether to run the fleet instead of the benchmarks.
    var isFleet = false
    /// Whether to try limits instead.
    var isLimits = false
    var filters: [String] = []
    var isQuick = false
    var showsList = false
    var showsHelp = false
    var checksAllocations = false
    var jsonPath: String?
    var comparePath: String?
    var fromPath: String?
    var plotPath: String?
    var markdownPath: String?

    var plan: Plan { isQuick ? .quick : .full }

    init(parsing arguments: [String]) throws(Mistake) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts.first.map(String.init) ?? argument
            var given = parts.count == 2 ? String(parts[1]) : nil

            /// The option's value, after its equals sign or from the next argument.
            func value(_ kind: String) throws(Mistake) -> String {
                let next = given ?? rest.popFirst()
                given = nil
                guard let next, !next.isEmpty, !next.hasPrefix("--") else {
                    throw Mistake(text: "\(name) needs a value, as in: \(name) \(kind)")
                }
                return next
            }

            switch name {
            case "--filter": filters.append(try value("TEXT"))
            case "--json": jsonPath = try value("FILE")
            case "--compare": comparePath = try value("FILE")
            case "--from": fromPath = try value("FILE")
            case "--plot": plotPath = try value("DIR")
            case "--markdown": markdownPath = try value("FILE")
            case "fleet" where given == nil: isFleet = true
            case "limits" where given == nil: isLimits = true
            case "--quick": isQuick = true
            case "--list": showsList = true
            case "--check-allocations": checksAllocations = true
            case "--help", "-h": showsHelp = true
            default: throw Mistake(text: "Unknown option \(argument). --help lists the options.")
            }
            guard given == nil else { throw Mistake(text: "\(name) takes no value; write it without the equals sign.") }
        }
        try checkSimulation()
    }

    /// Refuses options that a simulation does not have.
    private func checkSimulation() throws(Mistake) {
        guard isFleet || isLimits else { return }
        let simulation = isFleet ? "the fleet" : "the limits"
        let ofBenchmarks = [
            ("--filter", !filters.isEmpty), ("--list", showsList), ("--json", jsonPath != nil),
            ("--compare", comparePath != nil), ("--from", fromPath != nil), ("--check-allocations", checksAllocations),
        ]
        if let option = ofBenchmarks.first(where: \.1) {
            throw Mistake(text: "\(option.0) is for benchmarks, and not for \(simulation).")
        }
        if isFleet, isLimits { throw Mistake(text: "Run the fleet or the limits, one after the other.") }
    }

    static let help = """
        Measures time and allocations per operation.

          swift run -c release Benchmarks [options]
          swift run -c release Benchmarks fleet [--quick] [--plot DIR] [--markdown FILE]
          swift run -c release Benchmarks limits [--quick] [--plot DIR] [--markdown FILE]

          --filter TEXT         only benchmarks whose name contains TEXT; may be repeated
          --quick               shorter and fewer samples: a first impression in a few seconds
          --list                what each benchmark does, without running it
          --json FILE           write the results to FILE
          --compare FILE        compare with the results in FILE; status 1 if anything became slower beyond noise
          --from FILE           take the results from FILE instead of measuring
          --plot DIR            draw how cost grows, as SVG in DIR, with the figures beside it as CSV
          --markdown FILE       generate the tables in FILE again, between its comments "made" and "end"
          --check-allocations   compare with Benchmarks/allocation-limits.txt; status 1 if a limit does not hold
          --help                this text

        Times are medians. Half of the samples lie within the spread shown beside them.

        The fleet is a simulation: up to a million clients of one server, and an outage of a minute. It takes some minutes.
        The limits are simulations of servers, for which an adaptive limit and others look for the best number of requests.
        """
}
