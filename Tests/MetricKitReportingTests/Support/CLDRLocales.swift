import Foundation

/// The locales of the Unicode CLDR and their formats for numbers with units, from `Tests/CLDR/units.txt`.
struct CLDRLocales {
    /// Locales with the same format.
    struct Group: CustomStringConvertible {
        /// Their names, and the versions with this format.
        let description: String
        /// The patterns of each unit for all counts, with `{0}` for the number.
        let patterns: [String: [String]]
        let numbers: Numbers
    }

    /// The number format.
    struct Numbers {
        let zero: Unicode.Scalar
        /// The lengths of the last group and of the others; none without groups.
        let groupSizes: (last: Int, others: Int)
        let decimal: String
        let group: String

        /// Formats a number that is given in ASCII.
        ///
        /// - Parameter leastGrouped: the number of digits before the last group from which separators are written.
        func text(_ number: String, leastGrouped: Int = 1) -> String {
            let parts = number.split(separator: ".")
            var whole = Array(parts[0])
            var groups: [String] = []
            if groupSizes.last > 0, whole.count >= groupSizes.last + leastGrouped {
                var size = groupSizes.last
                while whole.count > size {
                    groups.insert(String(whole.suffix(size)), at: 0)
                    whole.removeLast(size)
                    size = groupSizes.others
                }
            }
            groups.insert(String(whole), at: 0)
            let fraction = parts.count > 1 ? decimal + localized(String(parts[1])) : ""
            return groups.map(localized).joined(separator: group) + fraction
        }

        private func localized(_ digits: String) -> String {
            String(
                String.UnicodeScalarView(
                    digits.unicodeScalars.compactMap { Unicode.Scalar(zero.value + $0.value - 0x30) }))
        }
    }

    let groups: [Group]

    /// Read once for all tests.
    static let all = Result { try CLDRLocales() }

    private init() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../CLDR/units.txt")
        var patterns: [String: [String: [String]]] = [:]
        var numbers: [String: Numbers] = [:]
        var groups: [Group] = []
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            switch fields[0] {
            case "form":
                let units = fields[2...].map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
                patterns[fields[1]] = Dictionary(
                    uniqueKeysWithValues: units.map { ($0[0], $0[1].split(separator: "|").map(String.init)) })
            case "number":
                guard let zero = fields[2].unicodeScalars.first else { continue }
                let sizes = fields[3].split(separator: " ").compactMap { Int($0) }
                numbers[fields[1]] = Numbers(
                    zero: zero, groupSizes: (sizes[0], sizes[1]), decimal: fields[4], group: fields[5])
            case "locales":
                guard let form = patterns[fields[1]], let writing = numbers[fields[2]] else { continue }
                groups.append(Group(description: "\(fields[4]) (\(fields[3]))", patterns: form, numbers: writing))
            default: break
            }
        }
        self.groups = groups
    }
}
