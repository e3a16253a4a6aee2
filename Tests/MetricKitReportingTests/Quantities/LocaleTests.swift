import Foundation
import LoaderChain
import TestSizes
import Testing

@testable import MetricKitReporting

/// Payloads in every locale of the Unicode CLDR since iOS 13: nothing is read incorrectly, and almost everything is
/// read.
///
/// `METRICKIT_LOCALE_ROUNDS` sets how many payloads of random numbers each group of locales gets.
@Suite(.timeLimit(.minutes(20)))
struct LocaleTests {
    private static let rounds = testSize("METRICKIT_LOCALE_ROUNDS", usually: 3)
    private static let seed: UInt64 = 47
    /// The languages whose numbers are not read, none of which an Apple system offers.
    ///
    /// Ge'ez has a letter between thousands, and Toki Pona groups digits in pairs.
    private static let unreadable: Set<Substring> = ["gez", "tok"]

    /// Formats a quantity with one of the unit's patterns, with or without separators for few digits.
    private static func write(
        _ quantity: LocalizedPayload.Quantity, _ group: CLDRLocales.Group, pattern index: Int, leastGrouped: Int
    ) -> String {
        let number = group.numbers.text(quantity.number, leastGrouped: leastGrouped)
        // Hebrew had words for one second and for two seconds, without a number.
        let patterns = (group.patterns[quantity.unit] ?? []).filter {
            $0.contains("{0}") || number == "1" || number == "2"
        }
        guard !patterns.isEmpty else { return "\(number) ?" }
        let written = patterns[index % patterns.count].replacing("{0}", with: number)
        return index % 2 == 0 ? written : "\u{200F}" + written + "\u{200E}"
    }

    @Test func usualValuesAreReadInEveryLocale() throws {
        let groups = try CLDRLocales.all.get().groups
        #expect(groups.count > 300)
        var incomplete: Set<String> = []
        for group in groups {
            for index in 0..<(group.patterns.values.map(\.count).max() ?? 1) {
                for leastGrouped in 1...2 {
                    let payload = LocalizedPayload.usual
                    let text = payload.text {
                        Self.write($0, group, pattern: index, leastGrouped: leastGrouped)
                    }
                    let (wrong, missing) = payload.differences(try MetricPayload(text))
                    #expect(wrong.isEmpty, "\(group): \(text)")
                    if !missing.isEmpty { incomplete.insert(group.description) }
                }
            }
        }
        #expect(Set(incomplete.map { $0.prefix(3) }) == Self.unreadable)
    }

    @Test func randomValuesAreNotMisreadInAnyLocale() throws {
        var generator = SeededGenerator(seed: Self.seed)
        var (read, missed) = (0, 0)
        for group in try CLDRLocales.all.get().groups {
            for round in 0..<Self.rounds {
                let payload = LocalizedPayload.random(&generator, units: group.patterns.keys.sorted())
                let (index, leastGrouped) = (
                    Int.random(in: 0..<6, using: &generator), Int.random(in: 1...2, using: &generator)
                )
                let text = payload.text { Self.write($0, group, pattern: index, leastGrouped: leastGrouped) }
                let (wrong, missing) = payload.differences(try MetricPayload(text))
                #expect(wrong.isEmpty, "seed \(Self.seed), \(group), round \(round): \(text)")
                missed += missing.count
                read += 2 + payload.times.count + payload.bytes.count - missing.count
            }
        }
        #expect(read > 50 * missed, "\(read) are read, and \(missed) are not")
    }

    /// The system's own output is read: nothing incorrectly, and every value that a device measures.
    @Test(.disabled(if: SystemFormatter.locales.isEmpty, "The formatters of this system cannot be reached."))
    func systemFormattedValuesAreNotMisread() throws {
        let names = [
            "ms": "millisecond", "s": "second", "B": "byte", "kB": "kilobyte", "MB": "megabyte", "GB": "gigabyte",
        ]
        func formatters(_ locale: String) throws -> [String: SystemFormatter] {
            try names.mapValues { try #require(SystemFormatter(unit: $0, locale: locale)) }
        }
        // Locales with the same output for numbers of every plural form and size are equivalent: one of them is read.
        let samples = ["0", "1", "2", "3", "5", "11", "21", "100", "1.5", "1234", "1000000", "1234567.125"]
        let locales = SystemFormatter.locales
        #expect(locales.count > 500)
        let groups = try Dictionary(grouping: locales) { locale in
            try formatters(locale).sorted { $0.key < $1.key }.flatMap { samples.map($0.value.text) }
        }
        var generator = SeededGenerator(seed: Self.seed)
        var incomplete: Set<String> = []
        for group in groups.values.sorted(by: { $0[0] < $1[0] }) {
            let locale = group[0]
            let formatters = try formatters(locale)
            for round in 0...Self.rounds {
                let payload: LocalizedPayload =
                    round == 0 ? .usual : .random(&generator, units: names.keys.sorted())
                let text = payload.text { formatters[$0.unit]?.text($0.number) ?? "" }
                let (wrong, missing) = payload.differences(try MetricPayload(text))
                #expect(wrong.isEmpty, "seed \(Self.seed), \(locale), round \(round): \(text)")
                if round == 0, !missing.isEmpty { incomplete.formUnion(group) }
            }
        }
        // A system may have names of a later version than the table.
        #expect(incomplete.count <= locales.count / 20, "\(incomplete.sorted()) lack something")
    }
}
