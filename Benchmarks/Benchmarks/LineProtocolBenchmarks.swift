import BenchmarkSupport
import LineProtocol

/// The cost of encoding a point, and of decoding a line.
func lineProtocolBenchmarks() -> [Benchmark] {
    let suite = Suite()
    let service = ServicePoints()
    let mixed = MixedPoints()

    suite.add(
        "floor/memcpy-S1", "Copies the bytes of a service's lines into a buffer.", allocations: 0,
        bytes: ServicePoints.lineLength
    ) {
        let target = UnsafeMutableRawPointer.allocate(byteCount: fullBuffer, alignment: 16)
        let line = Array(repeating: UInt8(ascii: "x"), count: ServicePoints.lineLength)
        return { iterations in
            var end = 0
            line.withUnsafeBytes { line in
                for _ in 0..<iterations {
                    if end > fullBuffer - 1_024 { end = 0 }
                    copyOutOfLine(line, target + end)
                    end += line.count
                }
            }
            blackHole(target)
        }
    }

    suite.add(
        "encoder/S1/series", "Writes a service's point: a prepared series, two fields and the time.",
        peer: "floor/memcpy-S1", limit: .nanoseconds(45), allocations: 0, bytes: ServicePoints.lineLength
    ) {
        let series = (0..<ServicePoints.period).map {
            PreparedSeries("APIHealth", tags: service.tags($0))
        }
        return encoding { index, encoder in
            encoder.append(series[index % ServicePoints.period], timestamp: service.timestamp(index)) { fields in
                fields.set("duration", service.duration(index))
                fields.set("bytes", service.bytes(index))
            }
        }
    }

    suite.add(
        "encoder/S1/full", "Writes a service's point from its strings and numbers, all of them checked and escaped.",
        peer: "floor/memcpy-S1", limit: .nanoseconds(80), allocations: 0, bytes: ServicePoints.lineLength
    ) {
        encoding { index, encoder in service.append(index, to: &encoder) }
    }

    suite.add(
        "encoder/S1/point", "Writes a service's point from a `Point`.",
        peer: "floor/memcpy-S1", limit: .nanoseconds(130), allocations: 0, bytes: ServicePoints.lineLength
    ) {
        let points = (0..<960).map(service.point)
        return encoding { index, encoder in encoder.append(points[index % 960]) }
    }

    suite.add(
        "encoder/S1/defaults", "Writes a service's point, with default tags before, between and behind its own.",
        peer: "encoder/S1/full", allocations: 0, bytes: ServicePoints.lineLength + 35
    ) {
        encoding(defaults: ["app": "shop", "model": "m1.large", "zone": "eu-1a"]) { index, encoder in
            service.append(index, to: &encoder)
        }
    }

    suite.add(
        "encoder/S2/full", "Writes a point with ten tags and ten fields, some of them with bytes to escape.",
        peer: "floor/memcpy-S1", limit: .nanoseconds(210), allocations: 0, bytes: MixedPoints.lineLength
    ) {
        encoding { index, encoder in mixed.append(index, to: &encoder) }
    }

    suite.add(
        "decoder/S1", "Reads a service's line into a point.", allocations: 3, bytes: ServicePoints.lineLength
    ) {
        var encoder = LineEncoder(precision: .milliseconds)
        for index in 0..<960 { service.append(index, to: &encoder) }
        let text = encoder.bytes
        let lines = text.split(separator: UInt8(ascii: "\n")).map { Array($0) + [UInt8(ascii: "\n")] }
        return { iterations in
            var decoder = LineDecoder(precision: .milliseconds)
            var count = 0
            for index in 0..<iterations {
                decoder.decode(lines[index % lines.count]) { if case .success = $0 { count &+= 1 } }
            }
            precondition(count == iterations, "every line is a point")
        }
    }

    return suite.benchmarks
}

/// The cost as the buffer and the number of tags grow.
func lineProtocolGrowthBenchmarks() -> [Benchmark] {
    let suite = Suite()
    let service = ServicePoints()
    for (name, size) in [("1KiB", 1 << 10), ("1MiB", 1 << 20), ("64MiB", 1 << 26), ("1GiB", 1 << 30)] {
        suite.add(
            "encoder/buffer-\(name)", "Writes a service's point into a buffer that is emptied when it has \(name).",
            peer: "encoder/S1/full", allocations: 0, bytes: ServicePoints.lineLength
        ) {
            encoding(upTo: size, isTouched: true) { index, encoder in service.append(index, to: &encoder) }
        }
    }
    for count in tagCounts {
        let keys = tagKeys(count)
        var encoder = LineEncoder()
        let write: (inout LineEncoder) -> Void = { encoder in
            encoder.append("m", timestamp: .seconds(1_700_000_000)) { tags in
                for key in keys { tags.set(key, "some-value") }
            } fields: { fields in
                fields.set("value", 1)
            }
        }
        write(&encoder)
        suite.add(
            "encoder/tags-\(count)", "Writes a point with \(count) tags of 19 bytes each, and one field.",
            allocations: 0, bytes: encoder.count
        ) {
            encoding { _, encoder in write(&encoder) }
        }
    }
    return suite.benchmarks
}

let tagCounts = [1, 2, 5, 10, 20, 50, 100]

/// How the cost of a point grows with its tags.
func lineProtocolFigures() -> [Figure] {
    [
        Figure(
            "tags", "A point with more and more tags", x: Plot.Axis("tags of 19 bytes", scale: .logarithmic),
            y: Plot.Axis("ns per point", scale: .logarithmic),
            curves: [
                Figure.Curve("interpolation", over: tagCounts) { "peer/interpolation-tags-\($0)" },
                Figure.Curve("LineEncoder", over: tagCounts) { "encoder/tags-\($0)" },
            ])
    ]
}

/// The keys of the tags, all with the same length.
func tagKeys(_ count: Int) -> [String] { (0..<count).map { "tag\(1_000 + $0)" } }

/// The size at which a buffer is emptied, as a sender would do.
private let fullBuffer = 4 << 20

@inline(__always)
private func encoding(
    upTo size: Int = fullBuffer, isTouched: Bool = false, defaults: Tags = [:],
    _ write: @escaping (Int, inout LineEncoder) -> Void
) -> (Int) -> Void {
    let state = EncodingState(
        LineEncoder(precision: .milliseconds, defaults: defaults, capacity: size + EncodingState.mostOfALine))
    func encode(_ iterations: Int, _ encoder: inout LineEncoder, _ index: inout Int) {
        for _ in 0..<iterations {
            write(index, &encoder)
            index &+= 1
            if encoder.count > size - ServicePoints.lineLength { encoder.removeAll() }
        }
        blackHole(encoder.count)
    }
    // Memory costs more when it is written for the first time, whichever code does it.
    if isTouched { encode(size / ServicePoints.lineLength + 1, &state.encoder, &state.index) }
    return { iterations in encode(iterations, &state.encoder, &state.index) }
}

/// The state that is kept between two runs.
private final class EncodingState {
    static let mostOfALine = 4_096

    var encoder: LineEncoder
    var index = 0

    init(_ encoder: LineEncoder) { self.encoder = encoder }
}

@inline(never)
private func copyOutOfLine(_ line: UnsafeRawBufferPointer, _ target: UnsafeMutableRawPointer) {
    guard let source = line.baseAddress else { return }
    target.copyMemory(from: source, byteCount: line.count)
}
