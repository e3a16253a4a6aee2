#if os(Linux) || os(macOS)
    import Foundation
    import LoaderChain
    import LoaderChainURLSession
    import TestProcesses
    import Testing

    /// The terminal with a real server.
    @Suite(.timeLimit(.minutes(10))) struct NginxTests {
        /// An nginx process with a folder of its own.
        private final class Nginx: Sendable {
            let folder: Folder
            let base: URL
            private let process: ChildProcess

            init?() async throws {
                guard let program = ChildProcess.find("nginx") else {
                    print("Passed over: nginx is not installed")
                    return nil
                }
                folder = try Folder()
                let port = try freePort()
                base = try #require(URL(string: "http://127.0.0.1:\(port)"))
                try FileManager.default.createDirectory(
                    at: folder.url.appending(path: "site/up"), withIntermediateDirectories: true)
                _ = try folder.file("site/small", Data("hello nginx".utf8))
                _ = try folder.file("site/large", pattern(20 << 20))
                let configuration = try folder.file(
                    "configuration", Data(Self.configuration(folder.url.path, port).utf8))
                process = try ChildProcess(
                    program, ["-p", folder.url.path, "-c", configuration.path, "-e", "\(folder.url.path)/errors"],
                    in: folder.url, input: .held, keepsOutput: false)
                let loader = URLSessionLoader(configuration: .patient)
                while await loader.failure(HTTPRequest(url: base))?.code == .cannotConnect, process.isRunning {}
            }

            private static func configuration(_ root: String, _ port: Int) -> String {
                """
                daemon off; master_process off; pid \(root)/pid; \(getuid() == 0 ? "user root;" : "")
                events { worker_connections 256; }
                http {
                    access_log off; client_max_body_size 64m; client_body_temp_path \(root)/body;
                    proxy_temp_path \(root)/p; fastcgi_temp_path \(root)/f; uwsgi_temp_path \(root)/u; scgi_temp_path \(root)/s;
                    gzip on; gzip_min_length 1; gzip_types *;
                    server {
                        listen 127.0.0.1:\(port); root \(root)/site;
                        location /moved { return 301 /small; }
                        location /no { return 403 "not for you"; }
                        location /dropped { return 444; }
                        location /secret { auth_basic "cellar"; auth_basic_user_file \(root)/configuration; }
                    }
                }
                """
            }

            func request(_ path: String) -> HTTPRequest { HTTPRequest(url: base.appending(path: path)) }
        }

        @Test func aRealServerIsUnderstood() async throws {
            guard let nginx = try await Nginx() else { return }
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

        @Test func manyRequestsAtOnceAreAnswered() async throws {
            guard let nginx = try await Nginx() else { return }
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
