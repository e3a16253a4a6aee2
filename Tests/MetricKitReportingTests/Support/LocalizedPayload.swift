import Foundation
import LoaderChain

@testable import MetricKitReporting

/// A payload of metrics whose numbers are formatted by a given formatter, and the values that must be read from it.
struct LocalizedPayload {
    /// A number of a unit, by the unit's symbol.
    struct Quantity: Equatable {
        var number: String
        var unit: String

        init(_ number: String, _ unit: String) {
            self.number = number
            self.unit = unit
        }
    }

    /// The places of single quantities in the payload, and in the model.
    private static let places: [(path: String, read: @Sendable (MetricPayload) -> Double?)] = [
        ("applicationTimeMetrics.cumulativeForegroundTime", { $0.applicationTime?.foreground?.histogramNumber }),
        ("applicationTimeMetrics.cumulativeBackgroundTime", { $0.applicationTime?.background?.histogramNumber }),
        (
            "applicationTimeMetrics.cumulativeBackgroundAudioTime",
            { $0.applicationTime?.backgroundAudio?.histogramNumber }
        ),
        ("cpuMetrics.cumulativeCPUTime", { $0.cpu?.time?.histogramNumber }),
        ("gpuMetrics.cumulativeGPUTime", { $0.gpu?.time?.histogramNumber }),
        ("memoryMetrics.peakMemoryUsage", { $0.memory?.peakBytes }),
        ("diskIOMetrics.cumulativeLogicalWrites", { $0.diskIO?.logicalWriteBytes }),
        ("networkTransferMetrics.cumulativeWifiUpload", { $0.networkTransfer?.wifiUploadBytes }),
        ("networkTransferMetrics.cumulativeWifiDownload", { $0.networkTransfer?.wifiDownloadBytes }),
        ("networkTransferMetrics.cumulativeCellularUpload", { $0.networkTransfer?.cellularUploadBytes }),
    ]

    /// The size of each unit in seconds or bytes.
    private static let sizes: [String: Double] = [
        "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9,
        "TB": 1e12,
    ]

    /// The bounds of launches and of hangs.
    var launches: [(Quantity, Quantity)]
    var hangs: [(Quantity, Quantity)]
    /// Up to five times, and up to five numbers of bytes.
    var times: [Quantity]
    var bytes: [Quantity]

    /// What a device measures in a day.
    static var usual: LocalizedPayload {
        func buckets(_ bounds: [(String, String)]) -> [(Quantity, Quantity)] {
            bounds.map { (Quantity($0.0, "ms"), Quantity($0.1, "ms")) }
        }
        return LocalizedPayload(
            launches: buckets([("1000", "1010"), ("2000", "2010"), ("12340", "12350")]),
            hangs: buckets([("0", "100"), ("100", "400"), ("1500", "1600")]),
            times: ["700", "40", "3600", "100", "20"].map { Quantity($0, "s") },
            bytes: ["200000", "1300", "50000", "60000", "70000"].map { Quantity($0, "kB") })
    }

    /// Numbers of every size, with up to three decimals, as formatted for display.
    static func random(_ generator: inout SeededGenerator, units: [String]) -> LocalizedPayload {
        func number() -> String {
            let digits = Int.random(in: 1...7, using: &generator)
            let whole = Int.random(in: 0..<(0..<digits).reduce(1) { power, _ in power * 10 }, using: &generator)
            guard Bool.random(using: &generator) else { return "\(whole)" }
            let fraction = String(Int.random(in: 1000...1999, using: &generator)).dropFirst()
            let trimmed = String(fraction.reversed().drop { $0 == "0" }.reversed())
            return trimmed.isEmpty ? "\(whole)" : "\(whole).\(trimmed)"
        }
        func quantity(_ among: [String]) -> Quantity {
            let unit = among.randomElement(using: &generator) ?? "s"
            return Quantity(unit == "B" ? String(number().prefix { $0 != "." }) : number(), unit)
        }
        let times = units.filter { ["ns", "us", "ms", "s", "min", "h"].contains($0) }
        let bytes = units.filter { !times.contains($0) }
        func bucket() -> (Quantity, Quantity) {
            let unit = times.contains("ms") ? ["ms"] : times
            let both = [quantity(unit), quantity(unit)].sorted { Self.value($0) < Self.value($1) }
            return (both[0], both[1])
        }
        func buckets(atMost most: Int) -> [(Quantity, Quantity)] {
            var all: [(Quantity, Quantity)] = []
            for _ in 0..<Int.random(in: 1...most, using: &generator) {
                let new = bucket()
                // Two with the same bounds would become one.
                if !all.contains(where: { $0.0 == new.0 && $0.1 == new.1 }) { all.append(new) }
            }
            return all
        }
        return LocalizedPayload(
            launches: buckets(atMost: 3), hangs: buckets(atMost: 2),
            times: times.isEmpty ? [] : (0..<Int.random(in: 0...5, using: &generator)).map { _ in quantity(times) },
            bytes: bytes.isEmpty ? [] : (0..<Int.random(in: 0...5, using: &generator)).map { _ in quantity(bytes) })
    }

    private static func value(_ quantity: Quantity) -> Double {
        (Double(quantity.number) ?? .nan) * (sizes[quantity.unit] ?? .nan)
    }

    /// The quantities with their places.
    private var placed: [(place: (path: String, read: @Sendable (MetricPayload) -> Double?), quantity: Quantity)] {
        Array(zip(Self.places[..<5], times)) + Array(zip(Self.places[5...], bytes))
    }

    /// The JSON of the payload.
    func text(_ write: (Quantity) -> String) -> String {
        func histogram(_ buckets: [(Quantity, Quantity)]) -> JSONTree {
            let members = buckets.enumerated().map { index, bucket in
                JSONTree.Member(
                    key: "\(index)",
                    value: .object([
                        .init(key: "bucketCount", value: .number("\(index + 1)")),
                        .init(key: "bucketStart", value: .string(write(bucket.0))),
                        .init(key: "bucketEnd", value: .string(write(bucket.1))),
                    ]))
            }
            return .object([.init(key: "histogramValue", value: .object(members))])
        }
        var sections: [String: [JSONTree.Member]] = [
            "applicationLaunchMetrics": [.init(key: "histogrammedTimeToFirstDrawKey", value: histogram(launches))],
            "applicationResponsivenessMetrics": [.init(key: "histogrammedAppHangTime", value: histogram(hangs))],
        ]
        for (place, quantity) in placed {
            let keys = place.path.split(separator: ".").map(String.init)
            sections[keys[0], default: []].append(.init(key: keys[1], value: .string(write(quantity))))
        }
        let members = sections.sorted { $0.key < $1.key }.map { JSONTree.Member(key: $0.key, value: .object($0.value)) }
        return JSONTree.object([.init(key: "appVersion", value: .string("1"))] + members).text
    }

    /// Compares the read values with the written ones.
    ///
    /// - Returns: the incorrect values, and the missing ones.
    func differences(_ payload: MetricPayload) -> (wrong: [String], missing: [String]) {
        var (wrong, missing): ([String], [String]) = ([], [])
        let left = Set(payload.leftovers.map(\.path))
        func compare(_ path: String, _ expected: [Double], _ found: [Double]?) {
            guard let found else {
                missing.append(path)
                if !left.contains(path) { wrong.append("\(path) is neither read nor left over") }
                return
            }
            let isSame =
                found.count == expected.count
                && zip(found, expected).allSatisfy { abs($0 - $1) <= 1e-9 * max(abs($1), 1) }
            if !isSame || left.contains(path) { wrong.append("\(path): \(found) instead of \(expected)") }
        }
        func compare(_ path: String, _ buckets: [(Quantity, Quantity)], _ histogram: Histogram<Duration>?) {
            let counted = buckets.enumerated().map { index, bucket in
                (Self.value(bucket.0), Self.value(bucket.1), Double(index + 1))
            }
            let expected = counted.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.flatMap { [$0.0, $0.1, $0.2] }
            let found = histogram?.buckets.flatMap {
                [$0.start.histogramNumber, $0.end.histogramNumber, Double($0.count)]
            }
            compare(path, expected, found)
        }
        compare(
            "applicationLaunchMetrics.histogrammedTimeToFirstDrawKey", launches,
            payload.applicationLaunch?.timeToFirstDraw)
        compare(
            "applicationResponsivenessMetrics.histogrammedAppHangTime", hangs,
            payload.applicationResponsiveness?.hangTime)
        for (place, quantity) in placed {
            compare(place.path, [Self.value(quantity)], place.read(payload).map { [$0] })
        }
        return (wrong, missing)
    }
}
