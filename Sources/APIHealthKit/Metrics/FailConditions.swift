import LoaderChain

/// The conditions of `--fail-if`, under which a run is a failure for cron and CI.
struct FailConditions: Sendable {
    private var conditions: [FailCondition] = []

    init() {}

    static let option = Syntax.Option(
        "fail-if", "CONDITION", repeats: true,
        "End with status 1 if this is met: 'p95 > 300ms', 'max >= 2s' or 'errors > 1%'.")

    init(_ list: ArgumentList) throws(ProgramError) {
        for text in list.texts("fail-if") { conditions.append(try FailCondition(text)) }
    }

    var areAboutErrors: Bool { conditions.contains { $0.isAboutErrors } }

    struct Measured {
        let name: String
        let errors: Int
        /// The number of requests that say something about the server.
        let judged: Int
        /// How long the requests took that were not cancelled or reset here.
        let latency: LatencyHistogram
    }

    /// A sentence for each condition that something meets.
    func complaints(about measured: [Measured]) -> [String] {
        conditions.flatMap { condition in measured.compactMap { condition.complaint(about: $0) } }
    }
}

/// A condition such as `p95 > 300ms`.
struct FailCondition: Sendable {
    private enum Comparison: String, CaseIterable {
        case above = ">"
        case from = ">="
        case below = "<"
        case to = "<="

        func holds(_ value: Double, _ limit: Double) -> Bool {
            switch self {
            case .above: value > limit
            case .from: value >= limit
            case .below: value < limit
            case .to: value <= limit
            }
        }
    }

    private let text: String
    private let metric: String
    /// The share of a percentile; nil for errors.
    private let quantile: Double?
    private let comparison: Comparison
    /// In seconds, or as a share of the requests.
    private let limit: Double

    init(_ text: String) throws(ProgramError) {
        func wrong(_ reason: String) -> ProgramError {
            ProgramError(.usage, "--fail-if cannot be “\(Plain.text(text))”: \(reason)")
        }
        self.text = Plain.text(text)
        let words = text.lowercased().filter { $0 != " " }
        let name = words.prefix { !Self.isSign($0) }
        let sign = words[name.endIndex...].prefix(while: Self.isSign)
        let value = words[sign.endIndex...]
        metric = String(name)
        guard name == "errors" || name == "max" || Self.percentile(name) != nil else {
            throw wrong("there is no metric “\(Plain.text(metric))”; give a percentile such as p95, max or errors")
        }
        quantile = name == "errors" ? nil : name == "max" ? 1 : Self.percentile(name)
        guard let comparison = Comparison(rawValue: String(sign)) else {
            throw wrong("there is no comparison “\(Plain.text(String(sign)))”; give >, >=, < or <=")
        }
        self.comparison = comparison
        if quantile == nil {
            guard let share = Self.share(value) else {
                throw wrong(
                    "“\(Plain.text(String(value)))” is not a share of the requests; give a value such as 1% or 0.5%")
            }
            limit = share
        } else {
            // A number alone could be meant as seconds or as milliseconds.
            guard value.last?.isLetter == true, let duration = DurationText.parse(String(value)) else {
                throw wrong("“\(Plain.text(String(value)))” is not a duration; give a value such as 300ms or 2s")
            }
            limit = duration / .seconds(1)
        }
    }

    var isAboutErrors: Bool { quantile == nil }

    /// A sentence if the condition is met; nothing if there was nothing to measure.
    fileprivate func complaint(about measured: FailConditions.Measured) -> String? {
        let name = Plain.text(measured.name)
        guard let quantile else {
            guard measured.judged > 0,
                comparison.holds(Double(measured.errors) / Double(measured.judged), limit)
            else { return nil }
            return "errors are \(NumberText.percent(measured.errors, of: measured.judged)) at \(name): “\(text)” is met"
        }
        guard let duration = measured.latency.quantile(quantile), comparison.holds(duration / .seconds(1), limit)
        else { return nil }
        return "\(metric) is \(DurationText.short(duration)) at \(name): “\(text)” is met"
    }

    private static func isSign(_ character: Character) -> Bool { "<>=!".contains(character) }

    private static func percentile(_ name: Substring) -> Double? {
        guard name.first == "p", let percent = number(name.dropFirst()), percent <= 100 else { return nil }
        return percent / 100
    }

    private static func share(_ text: Substring) -> Double? {
        guard text.last == "%", let percent = number(text.dropLast()), percent <= 100 else { return nil }
        return percent / 100
    }

    /// A number of digits and a point alone.
    private static func number(_ text: Substring) -> Double? {
        guard text.utf8.allSatisfy({ ASCII.isDigit($0) || $0 == UInt8(ascii: ".") }) else { return nil }
        return Double(text)
    }
}
