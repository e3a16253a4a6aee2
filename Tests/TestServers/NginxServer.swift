#if os(Linux) || os(macOS)
    import DurableFilesTesting
    import Foundation
    import LoaderChain
    import TestProcesses

    /// An nginx process with a folder of its own.
    package final class NginxServer: Sendable {
        /// Its files.
        package let folder: TemporaryDirectory
        /// Its address, without a path.
        package let base: URL
        private let processes: [ChildProcess]

        /// Starts a server; nil where nginx is not installed or does not start.
        ///
        /// - Parameters:
        ///   - workers: how many processes answer.
        ///   - files: what it serves, by path without a leading slash.
        ///   - directives: lines for the `server` block; `FOLDER` stands for its folder.
        package init?(workers: Int = 1, files: [String: Data] = [:], _ directives: String) throws {
            guard let program = ChildProcess.find("nginx") else { return nil }
            folder = try TemporaryDirectory()
            let port = try freePort()
            base = URL(string: "http://127.0.0.1:\(port)")!
            try FileManager.default.createDirectory(
                at: folder.url.appending(path: "site"), withIntermediateDirectories: true)
            for (path, data) in files { _ = try folder.file("site/\(path)", data) }
            let configuration = try folder.file(
                "configuration",
                Data(Self.configuration(folder.url.path, port, directives).utf8))
            // Each is a server of its own on the same port, so that none outlives the one that started it.
            processes = try (0..<workers).map { [folder] _ in
                try ChildProcess(
                    program, ["-p", folder.url.path, "-c", configuration.path, "-e", "\(folder.url.path)/errors"],
                    in: folder.url, input: .held, keepsOutput: false)
            }
            guard processes.allSatisfy({ $0.listens(on: port) }) else { return nil }
        }

        /// Ends its processes at once, in the middle of whatever they do.
        package func kill() { for process in processes { process.send(SIGKILL) } }

        /// A request for a path, without a leading slash.
        package func request(_ path: String) -> HTTPRequest { HTTPRequest(url: base.appending(path: path)) }

        private static func configuration(_ root: String, _ port: Int, _ directives: String) -> String {
            """
            daemon off; master_process off; pid \(root)/pid;
            \(getuid() == 0 ? "user root;" : "")
            events { worker_connections 4096; }
            http {
                access_log off; client_max_body_size 64m; client_body_temp_path \(root)/body;
                proxy_temp_path \(root)/p; fastcgi_temp_path \(root)/f; uwsgi_temp_path \(root)/u; scgi_temp_path \(root)/s;
                server {
                    listen 127.0.0.1:\(port) reuseport backlog=4096; root \(root)/site;
                    \(directives.replacing("FOLDER", with: root))
                }
            }
            """
        }
    }
#endif
