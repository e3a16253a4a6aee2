// Coding: numbers and strings as bytes. It uses no other folder.

import LoaderChain
import LoaderChainPlatformFoundation

/// Encodes numbers in little-endian order, and strings with a length prefix.
struct ByteWriter {
    private(set) var bytes = Data()

    init(capacity: Int = 256) { bytes.reserveCapacity(capacity) }

    mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func append(_ text: String) {
        var text = text
        text.withUTF8 {
            append(UInt32($0.count))
            bytes.append(contentsOf: $0)
        }
    }

    mutating func append(_ text: String?) {
        append(UInt8(text == nil ? 0 : 1))
        if let text { append(text) }
    }

    mutating func append(_ headers: HTTPHeaders) {
        append(UInt32(headers.count))
        for field in headers {
            append(field.name)
            append(field.value)
        }
    }
}

/// Decodes the output of a ``ByteWriter``; returns nil for invalid bytes.
struct ByteReader {
    private var rest: Data

    init(_ bytes: Data) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number? {
        let size = MemoryLayout<Number>.size
        guard rest.count >= size else { return nil }
        defer { rest = rest.dropFirst(size) }
        return rest.withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(as: Number.self)) }
    }

    mutating func text() -> String? {
        guard let length = number(UInt32.self), length <= rest.count else { return nil }
        defer { rest = rest.dropFirst(Int(length)) }
        return String(validating: rest.prefix(Int(length)), as: UTF8.self)
    }

    mutating func headers() -> HTTPHeaders? {
        guard let count = number(UInt32.self) else { return nil }
        var headers = HTTPHeaders()
        for _ in 0..<count {
            guard let name = text(), let value = text() else { return nil }
            headers.append(value, for: name)
        }
        return headers
    }

    /// Decodes an optional string; the outer nil means invalid bytes.
    mutating func optionalText() -> String?? {
        switch number(UInt8.self) {
        case 0: .some(nil)
        case 1: text().map { .some($0) }
        default: nil
        }
    }
}
