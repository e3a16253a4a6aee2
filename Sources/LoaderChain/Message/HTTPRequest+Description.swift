extension HTTPRequest: CustomStringConvertible {
    /// The request as a cURL command, with `redacted` in the place of secrets.
    public var description: String { curlCommand() }

    /// The request as a command for a POSIX shell.
    ///
    /// - Parameter includingSecrets: whether credentials, query values and the body are written out. The command can be
    ///   run as it is then, and must not be logged.
    public func curlCommand(includingSecrets: Bool = false) -> String {
        var words = ["curl"]
        if method == .head {
            words.append("--head")
        } else if method != .get || !body.isEmpty {
            words += ["-X", Self.quoted(method.rawValue)]
        }
        let shown = includingSecrets ? headers : headers.redacted
        for field in shown { words += ["-H", Self.quoted("\(field.name): \(field.value)")] }
        for field in body.additionalHeaders where !headers.contains(field.name) {
            words += ["-H", Self.quoted("\(field.name): \(field.value)")]
        }
        if !body.isEmpty { words += ["--data-binary", bodyArgument(includingSecrets)] }
        words.append(Self.quoted(storage.address.text(showing: includingSecrets ? .shown : .redacted) ?? loggableURL))
        return words.joined(separator: " ")
    }

    /// The address without what could be secret in it, also where it is not complete yet.
    package var loggableURL: String {
        storage.address.text(showing: .redacted) ?? storage.address.target(showing: .redacted)
    }

    private func bodyArgument(_ includingSecrets: Bool) -> String {
        guard body.canBeSentAgain, let content = try? body.encode() else { return "'<\(type(of: body))>'" }
        if includingSecrets, let data = try? content.data(upTo: 65_536),
            let text = String(validating: data, as: UTF8.self)
        {
            return Self.quoted(text)
        }
        return content.length.map { "'<\($0) bytes>'" } ?? "'<a stream>'"
    }

    /// A word that the shell takes literally.
    private static func quoted(_ text: String) -> String {
        let isPlain = !text.isEmpty && text.utf8.allSatisfy(plain.contains)
        if isPlain { return text }
        // A single quote cannot stand inside single quotes, so they are closed around it.
        return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    private static let plain = ASCIISet(ASCIISet.alphanumerics + "-_./:@%+,")
}
