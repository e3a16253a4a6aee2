import Foundation
import LoaderChain

/// Prints the heading of the section that the program follows now.
public func section(_ heading: String) { say("## \(heading)") }

/// Prints the heading of the part of a section that the program follows now.
public func part(_ heading: String) { say("### \(heading)") }

/// Prints the result of a step.
public func show(_ what: String) { say("  \(what)") }

/// Writes directly, because `print` buffers its output, which would be lost if the program crashed.
private func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

/// Loads a request, and describes its result in a line.
public func outcome(of request: HTTPRequest, from chain: HTTPLoader) async -> String {
    await withCheckedContinuation { continuation in
        chain.load(request: request) { continuation.resume(returning: outcome(of: $0)) }
    }
}

/// Describes a result in a line.
public func outcome(of result: HTTPResult) -> String {
    switch result {
    case .success(let response): "\(response.status.rawValue) \(String(decoding: response.body, as: UTF8.self))"
    case .failure(let error): "\(error.code), said \(error.loader ?? "no loader")"
    }
}

/// Runs a closure with an empty folder, which is removed afterwards.
public func withFolder<Result: Sendable>(_ body: @Sendable (URL) async throws -> Result) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "Stranger-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder)
}
