#if os(Linux)
    import Foundation
    import FoundationNetworking
    import LoaderChain
    import LoaderChainCurl
    import TerminalMatrix
    import TestProcesses
    import Testing

    @testable import LoaderChainURLSession

    /// The cases that all terminals share, as each handles them on Linux.
    @Suite(.timeLimit(.minutes(10))) struct MatrixTests {
        @Test func everyCaseEndsAsDocumentedWithCurl() async throws {
            guard CurlLoader.isAvailable else { return }
            let loader = CurlLoader(configuration: .patient)
            let terminal = MatrixTerminal(.curl) { request, surroundings in
                if surroundings == .init() { return await loader.matrixEnd(of: request) }
                var configuration = CurlConfiguration.patient
                if let proxy = surroundings.proxy {
                    let url = "http://127.0.0.1:\(proxy)"
                    configuration.proxies = HTTPProxies(http: url, https: url)
                }
                var tls = TLSOptions()
                if let authority = surroundings.authority { tls.authorities = .only(.file(authority)) }
                return await (try CurlLoader(tls: tls, configuration: configuration)).matrixEnd(of: request)
            }
            let surprises = try await Matrix(terminal).surprises()
            #expect(surprises.isEmpty, "\n\(surprises.joined(separator: "\n"))")
        }

        @Test func everyCaseEndsAsDocumented() async throws {
            let loader = URLSessionLoader(configuration: .patient)
            let terminal = MatrixTerminal(.urlSession) { request, surroundings in
                surroundings == .init() ? await loader.matrixEnd(of: request) : try await apart(request, surroundings)
            }
            var surprises = try await Matrix(terminal).surprises()
            // With newer versions of libcurl, the session leaves out the question mark.
            if SystemCurl.isAtLeast8_12 { surprises.removeAll { $0.hasPrefix("paths an empty query: 200") } }
            #expect(surprises.isEmpty, "\n\(surprises.joined(separator: "\n"))")
        }

        /// With `TERMINAL_MATRIX=write` in the environment, the tables of the page are regenerated.
        @Test func terminalsPageIsUpToDate() throws {
            let file = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../Documentation/Terminals.md").standardizedFileURL
            let page = try String(contentsOf: file, encoding: .utf8)
            #expect(MatrixPage.missing(in: page).isEmpty)
            let made = MatrixPage.refreshed(page)
            if ProcessInfo.processInfo.environment["TERMINAL_MATRIX"] == "write" {
                try Data(made.utf8).write(to: file)
            } else {
                #expect(made == page, "Terminals.md shows something else; TERMINAL_MATRIX=write makes its tables anew")
            }
        }
    }

    /// Loads a request in a separate process, which may crash, and which has another environment.
    private func apart(
        _ request: HTTPRequest, _ surroundings: MatrixTerminal.Surroundings
    ) async throws -> MatrixOutcome.End {
        let url = try #require(request.url).absoluteString
        let outcome = try await runFaults("load", url, "memory", environment: surroundings.environment)
        if outcome.crashed { return .crash }
        let words = outcome.output.split(separator: " ", maxSplits: 1).map(String.init)
        guard let status = Int(words[0]) else { return .error(HTTPError.Code(words[0])) }
        return .response(status, words.count > 1 ? words[1] : "")
    }
#endif
