import Foundation
import InfluxReporting
import LoaderChain

/// Where metrics go: to a file, a database, both or neither.
struct StoreArguments: Sendable {
    var file: String?
    var database: Database?

    struct Database: Sendable {
        let destination: InfluxDestination
        let spool: String?
        /// How long the end of a run waits for the database.
        let patience: Duration
    }

    init() {}

    static let options: [Syntax.Option] = [
        .init("file", "PATH", "Append the metrics to this file as line protocol."),
        .init("influx", "URL", "Write the metrics to an InfluxDB at this address."),
        .init("database", "NAME", "Its database, of InfluxDB 1 or 3."),
        .init("bucket", "NAME", "Its bucket, of InfluxDB 2."),
        .init("org", "NAME", "Its organization, of InfluxDB 2."),
        .init("influx-version", "N", "1, 2 or 3; by default 2 with a bucket and 1 with a database."),
        .init("token-file", "PATH", "A file with the token; for InfluxDB 1, with user:password."),
        .init("token-env", "NAME", "The environment variable that has the token instead."),
        .init(
            "spool", "PATH",
            "The folder in which points wait for the database; by default one for each database and user."),
        .init("patience", "TIME", "How long to wait for the database at the end; 10s by default."),
    ]

    init(_ list: ArgumentList) throws(ProgramError) {
        file = list.text("file")
        guard let address = list.text("influx") else {
            for name in ["database", "bucket", "org", "influx-version", "token-file", "token-env", "spool", "patience"]
            where list.has(name) {
                throw ProgramError(.usage, "--\(name) needs a database; give its address with --influx URL")
            }
            return
        }
        try list.forbid("database", with: "bucket")
        try list.forbid("token-file", with: "token-env")
        database = Database(
            destination: try Self.destination(address, list), spool: list.text("spool"),
            patience: try list.duration("patience", in: .zero...(.seconds(3_600))) ?? .seconds(10))
    }

    private static func destination(_ address: String, _ list: ArgumentList) throws(ProgramError) -> InfluxDestination {
        guard let url = URL(string: address), ["http", "https"].contains(url.scheme?.lowercased()),
            url.host()?.isEmpty == false
        else { throw ProgramError(.usage, "--influx needs the address of a server, such as http://127.0.0.1:8086") }
        let version = try list.integer("influx-version", in: 1...3) ?? (list.has("bucket") ? 2 : 1)
        for name in version == 2 ? ["database"] : ["bucket", "org"] where list.has(name) {
            throw ProgramError(
                .usage, "--\(name) is not for InfluxDB \(version); leave it out, or give another --influx-version")
        }
        let file = try list.text("token-file").map { path throws(ProgramError) in try secret(inFile: path) }
        let token = if let file { file } else { try list.secret("token-env") }
        guard version == 2 else {
            let database = try required("database", list, version)
            return try checked { () throws(InfluxDestinationError) in
                version == 3
                    ? try .influxDB3(url, database: database, authorization: token.map { .bearer($0) } ?? .none)
                    : try .influxDB1(url, database: database, authorization: token.map(password) ?? .none)
            }
        }
        let (bucket, organization) = (try required("bucket", list, version), try required("org", list, version))
        return try checked { () throws(InfluxDestinationError) in
            try .influxDB2(
                url, organization: organization, bucket: bucket, authorization: token.map { .token($0) } ?? .none)
        }
    }

    private static func required(_ name: String, _ list: ArgumentList, _ version: Int) throws(ProgramError) -> String {
        if let text = list.text(name) { return text }
        throw ProgramError(.usage, "InfluxDB \(version) needs --\(name) NAME")
    }

    private static func checked(
        _ make: () throws(InfluxDestinationError) -> InfluxDestination
    ) throws(ProgramError) -> InfluxDestination {
        do throws(InfluxDestinationError) { return try make() } catch {
            throw ProgramError(.usage, Plain.text("\(error)"))
        }
    }

    /// InfluxDB 1 takes a user and a password, or a JSON web token as bearer.
    private static func password(_ text: String) -> InfluxAuthorization {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 ? .password(String(parts[1]), user: String(parts[0])) : .bearer(text)
    }

    /// The content of a file without surrounding whitespace; no message shows it.
    private static func secret(inFile path: String) throws(ProgramError) -> String {
        guard let data = FileManager.default.contents(atPath: path), data.count <= 65_536,
            let text = String(validating: data, as: UTF8.self)
        else {
            throw ProgramError(.failure, "\(Plain.text(path)) cannot be read; give a readable file to --token-file")
        }
        let secret = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !secret.isEmpty else {
            throw ProgramError(.failure, "\(Plain.text(path)) is empty; put the token into it")
        }
        return secret
    }
}
