/// The course of an outage, second by second.
package struct OutageCourse: Equatable, Sendable {
    package internal(set) var requests: [Int]
    package internal(set) var successes: [Int]

    /// The most requests that reached the server in a second.
    package var peak: Int { requests.max() ?? 0 }

    /// The course as a table, for a curve.
    package var csv: String {
        let rows = requests.indices.map { "\($0),\(requests[$0]),\(successes[$0])" }
        return (["second,requests,successes"] + rows).joined(separator: "\n")
    }

    /// The first second from which at least `most` requests are served in each second to the end; nil if there is none.
    package func second(fromWhichServed most: Int) -> Int? {
        let end = (successes.lastIndex { $0 < most } ?? -1) + 1
        return end < successes.count ? end : nil
    }
}
