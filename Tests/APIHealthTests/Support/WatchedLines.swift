#if os(Linux) || os(macOS)
    import TestProcesses

    /// What a watch has told of so far.
    struct WatchedLines {
        var healthy = 0
        var bad = 0
        var recoveries = 0
        /// The endpoints that were found bad.
        var badEndpoints: Set<Substring> = []
        /// What is neither a check nor a change.
        var summary: [String] = []

        /// Reads lines until enough is known, or there are no more.
        mutating func read(from child: ChildProcess, until isEnough: (WatchedLines) -> Bool) async {
            while !isEnough(self), let line = await child.output.line() {
                if line.contains("Z  ok ") {
                    healthy += 1
                } else if line.contains("Z  BAD ") {
                    bad += 1
                    badEndpoints.formUnion(line.split(separator: " ").suffix(1))
                } else if line.contains("Z  UP ") {
                    recoveries += 1
                } else {
                    summary.append(line)
                }
            }
        }
    }
#endif
