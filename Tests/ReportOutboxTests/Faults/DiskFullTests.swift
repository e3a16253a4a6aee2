#if os(Linux)
    import DurableFilesTesting
    import Foundation
    import Glibc
    import LoaderChain
    import Testing

    @testable import ReportOutbox

    /// A real disk that is full.
    @Suite(.timeLimit(.minutes(10))) struct DiskFullTests {
        /// A file system in memory with a limited capacity; nil if this process may not mount one.
        private final class SmallDisk {
            let directory: TemporaryDirectory

            init?(kibibytes: Int) throws {
                directory = try TemporaryDirectory()
                let path = directory.url.path(percentEncoded: false)
                guard mount("tmpfs", path, "tmpfs", 0, "size=\(kibibytes)k,mode=0700") == 0 else { return nil }
            }

            deinit { umount2(directory.url.path(percentEncoded: false), CInt(MNT_DETACH)) }
        }

        @Test(arguments: [OutboxSettings.Durability.process, .fsync])
        func submitFailsWhileDiskIsFullAndWorksAfterwards(_ durability: OutboxSettings.Durability) throws {
            guard let disk = try SmallDisk(kibibytes: 512) else {
                print("No small disk could be mounted, so this is left to the one in memory.")
                return
            }
            let server = FakeServer()
            var settings = OutboxSettings.test()
            settings.durability = durability
            let directory = disk.directory.url
            let outbox = try ReportOutbox(directory: directory, chain: server, settings: settings, startsSending: false)
            var accepted: [String] = []
            var refused = 0
            for index in 0..<100 {
                do throws(OutboxError) {
                    try outbox.submit(bytes(20_000, seed: UInt64(index)), identifier: "\(index)", request: upload)
                    accepted.append("\(index)")
                } catch {
                    #expect(error.code == .diskFull, "\(error)")
                    refused += 1
                }
            }
            #expect(accepted.count > 10 && refused > 10)
            #expect(outbox.count == accepted.count)
            #expect(disk.directory.names.allSatisfy { !$0.hasPrefix("tmp-") })
            outbox.startSending()
            outbox.drain()
            #expect(server.keys == accepted)
            #expect(server.receipts.allSatisfy { $0.bytes == bytes(20_000, seed: UInt64($0.key) ?? 0) })
            try outbox.submit(bytes(20_000), identifier: "after", request: upload)
            outbox.drain()
            #expect(server.keys.last == "after")
        }
    }
#endif
