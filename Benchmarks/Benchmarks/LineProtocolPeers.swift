import BenchmarkSupport
import Foundation

/// Other ways to write lines, in their plainest form, with the same points as the encoder.
func lineProtocolPeerBenchmarks() -> [Benchmark] {
    let suite = Suite()
    let service = ServicePoints()

    suite.add(
        "peer/article-encoder",
        """
        Joins keys and values of a dictionary with values of any type, the way an article on monitoring servers does, \
        without escaping anything.
        """,
        peer: "encoder/S1/full", bytes: ServicePoints.lineLength
    ) {
        lines { index in
            let tags: [String: Any] = [
                "host": service.host(index), "method": service.method(index),
                "path": service.path(index), "status": service.status(index),
            ]
            let fields: [String: Any] = [
                "duration": service.duration(index), "bytes": service.bytes(index),
            ]
            guard let tagText = joined(tags, quotingStrings: false),
                let fieldText = joined(fields, quotingStrings: true)
            else { return "" }
            return "APIHealth," + tagText + " " + fieldText + " \(1_700_000_000_000 + index)\n"
        }
    }

    suite.add(
        "peer/interpolation-encoder", "Writes the line as one interpolated string, escaping each of its parts.",
        peer: "encoder/S1/full", bytes: ServicePoints.lineLength
    ) {
        lines { index in
            """
            APIHealth,host=\(escaped(service.host(index))),method=\(escaped(service.method(index))),\
            path=\(escaped(service.path(index))),status=\(escaped(service.status(index))) \
            duration=\(service.duration(index)),bytes=\(service.bytes(index))i \
            \(1_700_000_000_000 + index)

            """
        }
    }

    suite.add(
        "peer/json-encoder", "Writes the point as JSON with Foundation's encoder.",
        peer: "encoder/S1/full", bytes: ServicePoints.lineLength
    ) {
        let encoder = JSONEncoder()
        return { iterations in
            var count = 0
            for index in 0..<iterations {
                let record = Record(
                    host: service.host(index), method: service.method(index),
                    path: service.path(index), status: service.status(index),
                    duration: service.duration(index), bytes: service.bytes(index),
                    time: 1_700_000_000_000 + index)
                count &+= (try? encoder.encode(record).count) ?? 0
            }
            blackHole(count)
        }
    }

    for count in tagCounts {
        let keys = tagKeys(count)
        suite.add(
            "peer/interpolation-tags-\(count)",
            "Writes such a point of \(count) tags by interpolation, escaping each part.",
            peer: "encoder/tags-\(count)"
        ) {
            lines { index in
                var line = "m"
                for key in keys { line += ",\(escaped(key))=\(escaped("some-value"))" }
                return line + " value=1 \(1_700_000_000 + index)\n"
            }
        }
    }
    return suite.benchmarks
}

private struct Record: Encodable {
    var host, method, path, status: String
    var duration: Double
    var bytes, time: Int
}

/// Appends lines to a text that is emptied from time to time.
private func lines(_ line: @escaping (Int) -> String) -> (Int) -> Void {
    let full = 4 << 20
    return { iterations in
        var text = ""
        for index in 0..<iterations {
            text += line(index)
            if text.utf8.count > full { text.removeAll(keepingCapacity: true) }
        }
        blackHole(text)
    }
}

private func joined(_ values: [String: Any], quotingStrings: Bool) -> String? {
    let parts = values.compactMap { key, value -> String? in
        switch value {
        case let number as Double: "\(key)=\(number)"
        case let number as Int: "\(key)=\(number)i"
        case let flag as Bool: "\(key)=\(flag)"
        case let text as String: quotingStrings ? "\(key)=\"\(text)\"" : "\(key)=\(text)"
        default: nil
        }
    }
    return parts.isEmpty ? nil : parts.joined(separator: ",")
}

private func escaped(_ text: String) -> String {
    var result = ""
    for byte in text.unicodeScalars {
        if byte == "," || byte == "=" || byte == " " { result.unicodeScalars.append("\\") }
        result.unicodeScalars.append(byte)
    }
    return result
}
