#if os(Linux) || os(macOS)
    import Dispatch
    import DurableFiles
    import Foundation
    import LoaderChain

    /// The output of a process, read by one reader at a time.
    public final class ChildOutput: Sendable {
        private let descriptor: Descriptor
        private let unread = Locked(Data())
        /// Reading blocks, so each stream has a thread of its own.
        private let queue = DispatchQueue(label: "What a process writes")

        init(_ descriptor: Descriptor) { self.descriptor = descriptor }

        /// The next line, without its end; nil when there are no more.
        public func line() async -> String? {
            await later { [self] in
                while true {
                    let line = unread.withLock { unread -> Data? in
                        guard let end = unread.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
                        defer { unread = Data(unread[(end + 1)...]) }
                        return Data(unread[..<end])
                    }
                    if let line { return String(decoding: line, as: UTF8.self) }
                    if !readMore() { return nil }
                }
            }
        }

        /// The rest of the output, once the process has ended and no other process has its output open.
        public func rest() async -> String {
            await later { [self] in
                while readMore() {}
                return String(decoding: unread.withLock { replace(&$0, with: Data()) }, as: UTF8.self)
            }
        }

        private func readMore() -> Bool {
            var bytes = Data(count: 65_536)
            let count = bytes.withUnsafeMutableBytes { buffer in
                uninterrupted { read(descriptor.number, buffer.baseAddress, buffer.count) }.answer
            }
            guard count > 0 else { return false }
            unread.withLock { $0.append(bytes.prefix(count)) }
            return true
        }

        private func later<Answer: Sendable>(_ work: @escaping @Sendable () -> Answer) async -> Answer {
            await withCheckedContinuation { continuation in
                queue.async { continuation.resume(returning: work()) }
            }
        }
    }
#endif
