import Foundation
import LoaderChainTesting

@testable import LoaderChain

/// Bodies that arrive in pieces.
enum Deliveries {
    /// A response whose chunks are `pieces`, after which it fails with `error`, if any.
    static func response(
        _ pieces: [[UInt8]], status: HTTPStatus = .ok, type: String? = "text/event-stream",
        error: (any Error & Sendable)? = nil
    ) -> HTTPResponse {
        var response = HTTPResponse(request: .sample, status: status)
        response.headers["Content-Type"] = type
        let rest = Locked(pieces.filter { !$0.isEmpty }[...])
        response.chunks = ResponseChunks(next: {
            if let piece = rest.withLock({ $0.popFirst() }) { return Data(piece) }
            if let error { throw error }
            return nil
        })
        return response
    }

    /// All ways to cut bytes into two pieces.
    static func halves(_ bytes: [UInt8]) -> [[[UInt8]]] {
        (0...bytes.count).map { [Array(bytes[..<$0]), Array(bytes[$0...])] }
    }

    /// Random pieces.
    static func pieces(_ bytes: [UInt8], using generator: inout SeededGenerator) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Int.random(in: 1...max(1, min(9, rest.count)), using: &generator)
            pieces.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return pieces
    }
}

extension AsyncSequence {
    /// All elements.
    func collected() async throws -> [Element] {
        var elements: [Element] = []
        for try await element in self { elements.append(element) }
        return elements
    }
}
