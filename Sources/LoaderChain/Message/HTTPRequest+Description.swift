extension HTTPRequest: CustomReflectable {
    /// The description, so that debuggers and dumps show no secrets either.
    public var customMirror: Mirror { Mirror(self, children: ["curl": description]) }
}

extension EncodedRequest: CustomStringConvertible, CustomReflectable {
    /// The request it was made from, without secrets.
    public var description: String { request.description }
    /// The request it was made from, without secrets.
    public var customMirror: Mirror { Mirror(self, children: ["request": request.description]) }
}

extension HTTPRequest: CustomStringConvertible {
    /// The request as a cURL command, with secrets redacted.
    public var description: String { curlCommand() }

    /// The request as a command for a POSIX shell.
    ///
    /// - Parameter includingSecrets: whether to write out credentials, query values and the body. You can then run the
    ///   command as it is, and must not log it.
    public func curlCommand(includingSecrets: Bool = false) -> String {
        var words = ["curl"]
        if method == .head {
            words.append("--head")
        } else if method != .get || !body.isEmpty {
            words += ["-X", Self.quoted(method.rawValue)]
        }
        let shown = includingSecrets ? headers : headers.redacted
        let added = includingSecrets ? body.additionalHeaders : body.additionalHeaders.redacted
        for field in shown.fields + added.fields.filter({ !headers.contains($0.name) }) {
            // cURL removes a header that has a colon and no value; a semicolon makes it send an empty one.
            let value = ASCII.printable(field.value)
            words += ["-H", Self.quoted(field.name + (value.isEmpty ? ";" : ": " + value))]
        }
        // Not --data-binary, which reads a file if the text begins with an at sign.
        if !body.isEmpty { words += ["--data-raw", bodyArgument(includingSecrets)] }
        let address = storage.address.text(showing: includingSecrets ? .shown : .redacted) ?? loggableURL
        words += ["--url", Self.quoted(address)]
        return words.joined(separator: " ")
    }

    /// The address without its secrets, also where it is incomplete.
    package var loggableURL: String {
        let address = storage.address
        if let text = address.text(showing: .redacted) { return text }
        let server = address.lacksHost ? "(no host)" : "\(address.scheme)://\(address.host ?? "")"
        return ASCII.printable(server + address.target(showing: .redacted))
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
