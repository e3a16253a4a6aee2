// Process: the process around a command: streams, signals, exit statuses and errors. Depends on Screen; everything
// but Screen may use it.

import Foundation

extension Output {
    func write(json value: some Encodable) throws(ProgramError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        do {
            write(String(decoding: try encoder.encode(value), as: UTF8.self) + "\n")
        } catch {
            throw ProgramError(.failure, "the result cannot be written as JSON: \(error)")
        }
    }
}
