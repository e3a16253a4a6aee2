// Message: what is sent and what comes back, as values: requests, responses, results and errors. It may use its folders
// Headers and Bodies, and Support; it knows neither tasks nor loaders.

import LoaderChainPlatformFoundation

/// A request to a server.
///
/// A request is a value. Loading it makes an ``HTTPTask``, and you can load the same request any number of times.
///
/// ```swift
/// var request = HTTPRequest(method: .post, host: "api.example.com", path: "/v1/users")
/// request.headers["Accept"] = "application/json"
/// request.body = JSONBody(newUser)
/// ```
///
/// A loader further down may fill in what is missing, such as the host.
public struct HTTPRequest: Sendable {
    @usableFromInline var storage: Storage

    /// The contents of a request, so that copying one costs a single reference count.
    @usableFromInline
    final class Storage: @unchecked Sendable {
        // Changed only through a request that has the only reference, so no other thread sees a change.
        var method: HTTPMethod
        var address: RequestAddress
        var headers: HTTPHeaders
        var body: any HTTPBody
        @usableFromInline var options: RequestOptions

        init(
            method: HTTPMethod, address: RequestAddress, headers: HTTPHeaders, body: any HTTPBody,
            options: RequestOptions
        ) {
            self.method = method
            self.address = address
            self.headers = headers
            self.body = body
            self.options = options
        }

        @usableFromInline
        func copy() -> Storage {
            Storage(method: method, address: address, headers: headers, body: body, options: options)
        }
    }

    private init(method: HTTPMethod, address: RequestAddress, headers: HTTPHeaders, body: any HTTPBody) {
        storage = Storage(method: method, address: address, headers: headers, body: body, options: RequestOptions())
    }

    /// Makes a request from its parts; a loader may fill in what you omit.
    ///
    /// A question mark in `path` becomes part of the path; use `queryItems` for the query.
    public init(
        method: HTTPMethod = .get, scheme: String = "https", host: String? = nil, port: Int? = nil, path: String = "",
        queryItems: [HTTPQueryItem] = [], headers: HTTPHeaders = [:], body: any HTTPBody = EmptyBody()
    ) {
        var address = RequestAddress()
        address.scheme = scheme
        address.host = host
        address.port = port
        address.setPath(path)
        address.queryItems = queryItems
        self.init(method: method, address: address, headers: headers, body: body)
    }

    /// Makes a request for a URL, whose parts are kept as they are written.
    public init(method: HTTPMethod = .get, url: URL, headers: HTTPHeaders = [:], body: any HTTPBody = EmptyBody()) {
        self.init(method: method, address: RequestAddress(url), headers: headers, body: body)
    }

    @inlinable
    mutating func makeStorageUnique() {
        if !isKnownUniquelyReferenced(&storage) { storage = storage.copy() }
    }
}

extension HTTPRequest {
    /// The method.
    public var method: HTTPMethod {
        get { storage.method }
        set {
            makeStorageUnique()
            storage.method = newValue
        }
    }

    /// The header fields that the request sets; its body and the terminal add theirs.
    public var headers: HTTPHeaders {
        get { storage.headers }
        _modify {
            makeStorageUnique()
            yield &storage.headers
        }
    }

    /// The body; an ``EmptyBody`` for none.
    public var body: any HTTPBody {
        get { storage.body }
        set {
            makeStorageUnique()
            storage.body = newValue
        }
    }

    /// The value of an option, for the loaders that read it.
    @inlinable
    public subscript<Option: HTTPRequestOption>(option option: Option.Type) -> Option.Value {
        get { storage.options[option] }
        set {
            makeStorageUnique()
            storage.options[option] = newValue
        }
    }
}

// MARK: - The address

extension HTTPRequest {
    /// The scheme, by default `https`.
    public var scheme: String {
        get { storage.address.scheme }
        set { changeAddress { $0.scheme = newValue } }
    }

    /// The user and the password of a URL that has them, percent-encoded; nil for most.
    ///
    /// The package's terminals refuse such a request: URLs end up in logs. ``BasicAuth`` sends the credentials in a header.
    public var userInfo: String? { storage.address.userInfo }

    /// Sets or removes the user and the password; a server has no reason to choose them.
    mutating func setUserInfo(_ userInfo: String?) {
        if userInfo != self.userInfo { changeAddress { $0.userInfo = userInfo } }
    }

    /// The host, a name or an IP address; nil or empty for a loader to fill in.
    public var host: String? {
        get { storage.address.host }
        set { changeAddress { $0.host = newValue } }
    }

    /// The port; nil for the scheme's own.
    public var port: Int? {
        get { storage.address.port }
        set { changeAddress { $0.port = newValue } }
    }

    /// The path, percent-encoded.
    ///
    /// Setting it encodes the characters that a path must not contain, and keeps what is encoded already. A percent sign that two
    /// hexadecimal digits do not follow is such a character: `100%` becomes `100%25`.
    public var path: String {
        get { storage.address.path }
        set { changeAddress { $0.setPath(newValue) } }
    }

    /// The query, percent-encoded, without its question mark; nil for none.
    ///
    /// Setting it encodes the characters that a query must not contain, and keeps what is encoded already.
    public var query: String? {
        get { storage.address.query }
        set { changeAddress { $0.setQuery(newValue) } }
    }

    /// The query as names and values, decoded and in order.
    ///
    /// Setting it encodes every character that has a meaning in queries, so that any text can be a value.
    public var queryItems: [HTTPQueryItem] {
        get { storage.address.queryItems }
        set { changeAddress { $0.queryItems = newValue } }
    }

    /// The fragment, percent-encoded; it is never sent.
    public var fragment: String? {
        get { storage.address.fragment }
        set { changeAddress { $0.fragment = newValue } }
    }

    /// The whole address; nil without a host, or if the parts make no valid URL.
    ///
    /// Setting it replaces every part; setting nil empties them.
    public var url: URL? {
        get { storage.address.url }
        set { changeAddress { $0 = newValue.map(RequestAddress.init) ?? RequestAddress() } }
    }

    private mutating func changeAddress(_ change: (inout RequestAddress) -> Void) {
        makeStorageUnique()
        change(&storage.address)
    }
}

/// One name of a query with its value, both decoded.
public struct HTTPQueryItem: Hashable, Sendable {
    /// The name.
    public var name: String
    /// The value; nil if there is no equals sign.
    public var value: String?

    /// Makes an item.
    public init(_ name: String, _ value: String?) {
        self.name = name
        self.value = value
    }
}

// MARK: - The description

extension HTTPRequest: CustomStringConvertible {
    /// The request as a cURL command, with secrets redacted.
    public var description: String { curlCommand() }

    /// The request as a command for a POSIX shell.
    ///
    /// - Parameter includingSecrets: whether to write out credentials, query values and the body. You can then run the
    ///   command, and must not log it. A body that is no text, is longer than 64 KiB or can be sent only once is only
    ///   named: put it in first.
    public func curlCommand(includingSecrets: Bool = false) -> String {
        var words = ["curl"]
        if method == .head {
            words.append("--head")
        } else if method != .get || !body.isEmpty {
            words += ["-X", Self.quoted(ASCII.printable(method.rawValue))]
        }
        let shown = includingSecrets ? headers : headers.redacted
        let added = includingSecrets ? body.additionalHeaders : body.additionalHeaders.redacted
        for field in shown.fields + added.fields.filter({ !headers.contains($0.name) }) {
            // cURL removes a header that has a colon and no value; a semicolon makes it send an empty one.
            let value = ASCII.printable(field.value)
            let name = includingSecrets ? ASCII.printable(field.name) : field.loggableName
            words += ["-H", Self.quoted(name + (value.isEmpty ? ";" : ": " + value))]
        }
        // Not --data-binary, which reads a file if the text begins with an at sign.
        if !body.isEmpty { words += ["--data-raw", bodyArgument(includingSecrets)] }
        let address = storage.address.text(showing: includingSecrets ? .shown : .redacted) ?? loggableURL
        words += ["--url", Self.quoted(address)]
        return words.joined(separator: " ")
    }

    /// The address without its secrets, even if it is incomplete.
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
        // A single quote cannot stand inside single quotes, so they are closed around it. With a combining mark after it, it is
        // another character for Swift, but not for the shell.
        var word = "'"
        for scalar in text.unicodeScalars {
            if scalar == "'" { word += "'\\''" } else { word.unicodeScalars.append(scalar) }
        }
        return word + "'"
    }

    private static let plain = ASCIISet(ASCIISet.alphanumerics + "-_./:@%+,")
}

extension HTTPRequest: CustomReflectable {
    /// The description, so that debuggers and dumps show no secrets either.
    public var customMirror: Mirror { Mirror(self, children: ["curl": description]) }
}
