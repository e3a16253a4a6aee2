import Foundation

/// The sources of the loaders, for tests that must not forget one.
enum LoaderSources {
    private static let folder = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        .appending(path: "Sources/LoaderChain/Loaders")

    /// The names of the public classes that are loaders, by inheritance from `HTTPLoader` or from another of them.
    static func publicLoaders() throws -> Set<String> {
        let declaration = /(?:.* )?(?:public|open) (?:final )?class (\w+)(?:<.*?>)?: (\w+)/
        var parents: [String: String] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path(percentEncoded: false))
        where path.hasSuffix(".swift") {
            let text = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
            for match in text.split(separator: "\n").compactMap({ $0.prefixMatch(of: declaration) }) {
                parents[String(match.1)] = String(match.2)
            }
        }
        func isLoader(_ name: String) -> Bool { name == "HTTPLoader" || parents[name].map(isLoader) == true }
        return Set(parents.keys.filter(isLoader))
    }
}
