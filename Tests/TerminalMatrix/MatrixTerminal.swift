import LoaderChain
import LoaderChainPlatformFoundation

/// A terminal, and how it is told what a case needs beside its request.
package struct MatrixTerminal: Sendable {
    /// The columns of the page.
    package enum Name: String, CaseIterable, Sendable {
        case urlSession = "URLSessionLoader"
        case curl = "CurlLoader"
    }

    /// What surrounds a request.
    package struct Surroundings: Sendable, Equatable {
        /// The port of the proxy to use, on this machine.
        package var proxy: Int?
        /// The file with the certificate of the only authority to trust.
        package var authority: URL?
        /// Whether this may end the process.
        package var isDangerous = false

        package init() {}

        /// The variables by which an operator says the same.
        package var environment: [String: String] {
            var variables = ["no_proxy": ""]
            if let proxy {
                for name in ["http_proxy", "https_proxy"] { variables[name] = "http://127.0.0.1:\(proxy)" }
            }
            variables["SSL_CERT_FILE"] = authority?.path
            return variables
        }
    }

    package let name: Name
    /// Loads a request, and reads its body.
    let load: @Sendable (HTTPRequest, Surroundings) async throws -> MatrixOutcome.End

    package init(
        _ name: Name, load: @escaping @Sendable (HTTPRequest, Surroundings) async throws -> MatrixOutcome.End
    ) {
        self.name = name
        self.load = load
    }
}

extension HTTPLoader {
    /// How a request ends.
    package func matrixEnd(of request: HTTPRequest) async -> MatrixOutcome.End {
        do throws(HTTPError) {
            let response = try await load(request)
            return .response(response.status.rawValue, String(decoding: response.body, as: UTF8.self))
        } catch {
            return .error(error.code)
        }
    }
}
