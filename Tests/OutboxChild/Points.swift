import Dispatch
import InfluxReporting
import LineProtocol
import LoaderChain
import LoaderChainPlatformFoundation

/// The same for points: two threads write and print each accepted point, while a writer sends.
///
///     OutboxChild points DIRECTORY PORT PREFIX COUNT
enum Points {
    static func main(_ directory: String, port: UInt16, prefix: String, count: Int) async throws {
        var settings = WriterSettings()
        settings.idleInterval = .milliseconds(3)
        settings.maximumAge = .milliseconds(10)
        settings.batchPoints = 16
        settings.compression = .off
        settings.firstDelay = .milliseconds(1)
        settings.maximumDelay = .milliseconds(20)
        settings.maximumRetryAfter = .milliseconds(20)
        // Some blocks are sent from memory, and others are read again.
        settings.maximumBytes = 16 << 10
        settings.synchronization = .milliseconds(5)
        let url = URL(string: "http://127.0.0.1:\(port)") ?? URL(filePath: "/")
        let writer = try InfluxWriter(
            destination: .influxDB1(url, database: "points"), chain: SocketTerminal(port: port),
            directory: URL(filePath: directory), settings: settings
        ) { event in
            switch event {
            case .delivered, .deliveryFailed, .found: break  // Expected.
            case .damaged: break  // A kill tears what one thread is writing, before what the other has written.
            case .rejected, .dropped, .foreignFiles, .trouble: say("wrong \(event)")
            }
        }
        say("open")
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<2 {
                group.addTask {
                    for index in 0..<count {
                        let id = "\(prefix)-\(thread)-\(index)"
                        if writer.write(point(id)) == .saved {
                            say("accepted \(id)")
                        } else {
                            say("wrong \(id) was not taken")
                        }
                    }
                }
            }
        }
        // At least once: before, points may be on their way from the threads to the batches, and be counted in neither place.
        repeat { await writer.flush(within: .seconds(1)) } while writer.statistics.held > 0
        say("empty")
        // The test kills this process.
        while true { try await Task.sleep(for: .seconds(60)) }
    }

    /// A point that is derived from its identifier, so that the test can check whether it is complete.
    private static func point(_ id: String) -> Point {
        var seed: UInt64 = 0
        for byte in id.utf8 { seed = seed &* 31 &+ UInt64(byte) }
        var generator = SeededGenerator(seed: seed)
        let letters = Array("ab c,=\"\\\n")
        let text = String((0..<Int(generator.next() % 900)).map { _ in letters[Int(generator.next() % 9)] })
        return Point(
            "m", tags: ["id": id], fields: ["text": .string(text)],
            timestamp: Timestamp(nanoseconds: Int64(seed % 1_000_000_007)))
    }
}
