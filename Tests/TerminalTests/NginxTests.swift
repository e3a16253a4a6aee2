#if os(Linux) || os(macOS)
    import Foundation
    import LoaderChain
    import LoaderChainURLSession
    import TestServers
    import Testing

    /// The terminal with a real server.
    @Suite(.timeLimit(.minutes(10))) struct NginxTests {
        private func serve() throws -> NginxServer? {
            let server = try NginxServer(
                files: ["small": Data("hello nginx".utf8), "large": pattern(20 << 20)],
                """
                gzip on; gzip_min_length 1; gzip_types *;
                location /moved { return 301 /small; }
                location /no { return 403 "not for you"; }
                location /dropped { return 444; }
                location /secret { auth_basic "cellar"; auth_basic_user_file FOLDER/configuration; }
                """)
            if server == nil { print("Passed over: nginx is not installed") }
            return server
        }

        @Test func nginxResponsesAreLoaded() async throws {
            guard let nginx = try serve() else { return }
            let loader = URLSessionLoader(configuration: .patient)
            #expect(try await loader.load(nginx.request("small")).body == Data("hello nginx".utf8))
            let moved = try await loader.load(nginx.request("moved"))
            #expect(moved.body == Data("hello nginx".utf8))
            #expect(moved.metrics?.redirects == 1)
            #expect(try await loader.load(nginx.request("no")).status == .forbidden)
            #expect(try await loader.load(nginx.request("secret")).status == .unauthorized)
            #expect(await loader.failure(nginx.request("dropped"))?.code == .connectionLost)

            let file = try nginx.folder.file("download")
            var request = nginx.request("large")
            request.delivery = .file(file)
            #expect(try await loader.load(request).file == file)
            #expect(try Data(contentsOf: file) == pattern(20 << 20))

            request.delivery = .chunks
            let chunks = try await loader.load(request).chunks
            #expect(try await chunks?.collect(upTo: 20 << 20) == pattern(20 << 20))
        }

        @Test func concurrentRequestsToNginxAreAnswered() async throws {
            guard let nginx = try serve() else { return }
            let loader = URLSessionLoader(configuration: .patient)
            await withTaskGroup(of: Int.self) { group in
                for _ in 0..<16 {
                    group.addTask {
                        var answered = 0
                        for _ in 0..<20 {
                            let response = try? await loader.load(nginx.request("small"))
                            if response?.body == Data("hello nginx".utf8) { answered += 1 }
                        }
                        return answered
                    }
                }
                #expect(await group.reduce(0, +) == 320)
            }
        }
    }
#endif
