import DurableFiles
import DurableFilesTesting
import Foundation
import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

/// Downloads whose server, network, disk and process fail by chance: the file is one that the server had, or there is none.
@Suite(.timeLimit(.minutes(20))) struct DownloadWalkTests {
    @Test func downloadedFileIsNeverMixOfVersions() async {
        for seed in 0..<UInt64(testSize("DOWNLOAD_WALKS", usually: 1_000, atLeast: 10)) {
            if let fault = await walk(seed) {
                Issue.record("seed \(seed): \(fault)")
                return
            }
        }
    }

    private func walk(_ seed: UInt64) async -> String? {
        var random = SeededGenerator(seed: seed)
        let source = RandomSource(seed: seed &+ 1)
        let directory = MemoryDirectory()
        let server = DownloadServer(content(&random), headers: headers(1, &random), random: source)
        var versions = 1
        var settings = ResumableDownload.Settings()
        (settings.firstDelay, settings.maximumDelay) = (.zero, .zero)
        let lives = 12
        for life in 0..<lives {
            settings.maximumFailures = Int.random(in: 1...4, using: &random)
            settings.bytesBetweenFlushes = Int64.random(in: 1...800, using: &random)
            let isLast = life == lives - 1
            directory.weather(nil)
            directory.cut(nil)
            server.forget()
            if !isLast {
                switch Int.random(in: 0..<5, using: &random) {
                case 0: directory.cut(.death(at: Int.random(in: 1...40, using: &random)))
                case 1: directory.weather(MemoryDirectory.Weather(source, failing: 0.03, short: 0.2))
                default: break
                }
                for _ in 0..<Int.random(in: 0...4, using: &random) {
                    server.meet(DownloadServer.Fault.allCases.randomElement(using: &random)!)
                }
                if Int.random(in: 0..<4, using: &random) == 0 {
                    versions += 1
                    server.put(content(&random), headers: headers(versions, &random))
                }
            }
            let loader = ResumableDownload(settings, timers: ManualTimers(), random: source) { _ in directory }
            var request = HTTPRequest(url: URL(string: "https://films.test/film")!)
            request.delivery = .file(URL(filePath: "/film"))
            let result: HTTPResponse?
            do { result = try await (loader --> server).load(request) } catch { result = nil }
            directory.weather(nil)
            if directory.isDead || Int.random(in: 0..<4, using: &random) == 0 {
                directory.kill()
                let powerWasLost = Int.random(in: 0..<2, using: &random) == 0
                directory.revive(afterPowerLoss: powerWasLost, writtenPages: powerWasLost ? source : nil)
            }
            directory.cut(nil)
            if let file = directory.bytes(of: "film"), !server.served.contains(Array(file)) {
                return "life \(life): a mixture of \(file.count) bytes, \(versions) versions"
            }
            if result?.file != nil {
                guard directory.bytes(of: "film") != nil else { return "life \(life): success without a file" }
                if Int.random(in: 0..<2, using: &random) == 0 { return nil }
                directory.vanish("film")
            } else if isLast {
                return "the last life failed: \(directory.names), \(server.requests.suffix(2))"
            }
        }
        return nil
    }

    private func content(_ random: inout SeededGenerator) -> [UInt8] {
        (0..<Int.random(in: 0...1_500, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    private func headers(_ version: Int, _ random: inout SeededGenerator) -> HTTPHeaders {
        switch Int.random(in: 0..<8, using: &random) {
        // The same for all versions: weak ones prove nothing.
        case 0: ["ETag": "W/\"same\""]
        case 1: ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:49:38 GMT"]
        case 2: [:]
        case 3:
            [
                "Last-Modified": "Sun, 06 Nov 1994 08:\(10 + version):37 GMT",
                "Date": "Sun, 06 Nov 1994 09:49:38 GMT",
            ]
        default: ["ETag": "\"\(version)\""]
        }
    }
}
