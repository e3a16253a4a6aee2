import LoaderChainPlatformFoundation

extension Program {
    static let limitsPath = "Benchmarks/allocation-limits.txt"

    func readReport(_ path: String) throws(Refusal) -> Report {
        let data = try read(path)
        guard let report = try? Report(json: data) else {
            throw Refusal(text: "\(path) holds no results; --json writes such a file.")
        }
        return report
    }

    func readLimits() throws(Refusal) -> AllocationLimits {
        guard meter != nil else {
            throw Refusal(
                text: "Allocations cannot be counted in this build; check them on Linux, without a sanitizer.")
        }
        guard let data = try? readFile(Self.limitsPath) else {
            throw Refusal(text: "\(Self.limitsPath) cannot be read; run this from the root of the repository.")
        }
        do throws(AllocationLimits.Mistake) {
            return try AllocationLimits(parsing: String(decoding: data, as: UTF8.self))
        } catch {
            throw Refusal(text: "\(Self.limitsPath):\(error.line): \(error.text).")
        }
    }

    /// Checks that the parts of a document can be generated.
    func checkDocument(_ path: String) throws(Refusal) {
        _ = try refreshed(path) { _, _ in nil }
    }

    /// Generates the parts of a document again, from its current contents.
    func refreshDocument(
        _ path: String, _ make: (MarkdownDocument.Part, [String]) -> [String]?
    ) throws(Refusal) {
        try write(Data(refreshed(path, make).utf8), to: path)
    }

    private func refreshed(
        _ path: String, _ make: (MarkdownDocument.Part, [String]) -> [String]?
    ) throws(Refusal) -> String {
        let document = MarkdownDocument(text: String(decoding: try read(path), as: UTF8.self))
        do throws(MarkdownDocument.Mistake) {
            return try document.refreshed(make)
        } catch {
            throw Refusal(text: "\(path):\(error.line): \(error.text).")
        }
    }

    /// Draws the charts for which everything was measured, and lists the others.
    func draw(_ report: Report, in directory: String) throws(Refusal) {
        var missing: [String] = []
        for figure in suite.figures {
            guard let plot = figure.plot(of: report.results) else {
                missing.append(figure.file)
                continue
            }
            try write(Data(plot.svg().utf8), to: "\(directory)/\(figure.file).svg")
            try write(Data(figure.csv(of: report.results).utf8), to: "\(directory)/\(figure.file).csv")
        }
        if !missing.isEmpty {
            console.complain("Not drawn, since not all of it was measured: \(missing.joined(separator: ", ")).")
        }
    }

    func write(_ data: @autoclosure () throws -> Data, to path: String) throws(Refusal) {
        do {
            try writeFile(path, data())
        } catch {
            throw Refusal(text: "\(path) cannot be written.")
        }
    }

    private func read(_ path: String) throws(Refusal) -> Data {
        guard let data = try? readFile(path) else { throw Refusal(text: "\(path) cannot be read.") }
        return data
    }

    /// Writes a file, and creates its folder if necessary.
    static func write(_ data: Data, to file: URL) throws {
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: file)
    }
}
