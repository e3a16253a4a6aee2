import Foundation
import LoaderChain

/// Says which section of the guide is followed now, by its heading.
public func section(_ heading: String) { say("## \(heading)") }

/// Says which part of a section is followed now, by its heading.
public func part(_ heading: String) { say("### \(heading)") }

/// Says what came of a step.
public func show(_ what: String) { say("  \(what)") }

/// Not by `print`, which keeps what it was given, and loses it when the program ends in the middle.
private func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

/// Loads a request, and tells in a line what came of it.
public func outcome(of request: HTTPRequest, from chain: HTTPLoader) async -> String {
    await withCheckedContinuation { continuation in
        chain.load(request: request) { continuation.resume(returning: outcome(of: $0)) }
    }
}

/// What a result says, in a line.
public func outcome(of result: HTTPResult) -> String {
    switch result {
    case .success(let response): "\(response.status.rawValue) \(String(decoding: response.body, as: UTF8.self))"
    case .failure(let error): "\(error.code), said \(error.loader ?? "nobody")"
    }
}

/// A folder that is empty, and removed at the end.
public func withFolder<Result: Sendable>(_ body: @Sendable (URL) async throws -> Result) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "Stranger-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder)
}
