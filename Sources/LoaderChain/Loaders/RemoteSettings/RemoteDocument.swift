import LoaderChainPlatformFoundation

/// A document of settings, all of which have been checked.
struct RemoteDocument: Sendable {
    /// The settings of one target.
    struct Entry: Sendable {
        let set: @Sendable () -> Void
        let until: Date?
    }

    let revision: Int64
    let entries: [String: Entry]
    /// The names that nothing reads.
    let ignored: [String]

    /// Checks the bytes of a document that may set `targets`; one of `keys` must have signed it, and without keys no signature is checked.
    init(_ bytes: Data, signedBy keys: [RemoteSettings.Key]?, for targets: [String: RemoteSettings.Target]) throws {
        let text = try keys.map { try SignedText(bytes).content(signedBy: $0) } ?? bytes
        let decoder = JSONDecoder()
        decoder.userInfo[.targets] = targets
        self = try decoder.decode(Content.self, from: text).document
    }

    fileprivate init(revision: Int64, entries: [String: Entry], ignored: [String]) {
        self.revision = revision
        self.entries = entries
        self.ignored = ignored.sorted()
    }
}

private struct Content: Decodable {
    let document: RemoteDocument

    init(from decoder: any Decoder) throws {
        let targets = decoder.userInfo[.targets] as? [String: RemoteSettings.Target] ?? [:]
        let values = try decoder.container(keyedBy: RemoteName.self)
        guard let revision = try values.count(RemoteName("revision")) else {
            throw values.error(RemoteName("revision"), "it is missing")
        }
        let loaders = try values.nestedContainer(keyedBy: RemoteName.self, forKey: RemoteName("loaders"))
        var ignored = values.allKeys.map(\.stringValue).filter { $0 != "revision" && $0 != "loaders" }
        var entries: [String: RemoteDocument.Entry] = [:]
        for key in loaders.allKeys {
            let name = key.stringValue
            guard let target = targets[name] else {
                ignored.append("loaders.\(name)")
                continue
            }
            let settings = try loaders.nestedContainer(keyedBy: RemoteName.self, forKey: key)
            if let names = target.names {
                ignored += settings.allKeys.map(\.stringValue).filter { !names.contains($0) && $0 != "until" }
                    .map { "loaders.\(name).\($0)" }
            }
            entries[name] = .init(
                set: try target.read(loaders.superDecoder(forKey: key)), until: try Self.until(settings))
        }
        document = RemoteDocument(revision: revision, entries: entries, ignored: ignored)
    }

    private static func until(_ settings: KeyedDecodingContainer<RemoteName>) throws -> Date? {
        let key = RemoteName("until")
        guard let text = try settings.decodeIfPresent(String.self, forKey: key) else { return nil }
        guard let date = CalendarTime.date(rfc3339: text)?.second else {
            throw settings.error(key, "\(ASCII.quoted(text)) is no instant such as 2026-12-24T18:00:00Z")
        }
        return date
    }
}

/// Any name in a document.
struct RemoteName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
}

extension CodingUserInfoKey {
    fileprivate static let targets = CodingUserInfoKey(rawValue: "LoaderChain.RemoteSettings.targets")!
}

struct RemoteProblem: Error, Hashable, CustomStringConvertible {
    let description: String

    private static let longest = 300

    init(_ text: String, at path: [any CodingKey] = []) {
        let place = path.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
        description = ASCII.printable(
            String((place.isEmpty ? text : "\(place): \(text)").unicodeScalars.prefix(Self.longest)))
    }

    init(_ error: any Error) {
        switch error {
        case let error as RemoteProblem: self = error
        case DecodingError.keyNotFound(let key, let context): self.init("it is missing", at: context.codingPath + [key])
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.dataCorrupted(let context):
            self.init(context.debugDescription, at: context.codingPath)
        default: self.init("\(error)")
        }
    }
}
