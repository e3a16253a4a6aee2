import LoaderChain

/// Damages requests at random.
enum LoopbackMutation {
    private static let requests = [
        "GET /a?b=c HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello",
        "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\nA\r\n0123456789\r\n0\r\nT: v\r\n\r\n",
    ]

    static func mutated(using random: inout SeededGenerator) -> [UInt8] {
        var bytes = (0..<Int.random(in: 1...3, using: &random)).flatMap { _ in
            Array((requests.randomElement(using: &random) ?? "").utf8)
        }
        let loaded = Array("\r\n\0 :;,0f/\u{7f}".utf8) + [0xFF]
        for _ in 0..<Int.random(in: 0...6, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes[place] = loaded.randomElement(using: &random) ?? 0
            case 2: bytes.insert(loaded.randomElement(using: &random) ?? 0, at: place)
            case 3: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...4, using: &random)))
            default: bytes.insert(contentsOf: bytes[place...].prefix(8), at: place)
            }
        }
        return bytes
    }

    static func cut(_ bytes: [UInt8], using random: inout SeededGenerator) -> [[UInt8]] {
        var rest = bytes[...]
        var pieces: [[UInt8]] = []
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...20, using: &random))
            pieces.append(Array(piece))
            rest = rest.dropFirst(piece.count)
        }
        return pieces
    }
}
