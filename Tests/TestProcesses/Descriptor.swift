#if os(Linux) || os(macOS)
    import DurableFiles
    import Foundation
    import LoaderChain

    /// A descriptor, closed when it is released.
    final class Descriptor: Sendable {
        let number: CInt

        init(_ number: CInt) { self.number = number }

        convenience init(opening path: String) throws {
            let (number, code) = uninterrupted { open(path, O_RDWR | O_CLOEXEC) }
            guard number >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
            self.init(number)
        }

        deinit { close(number) }
    }

    /// The two ends of a pipe, which processes that are started later do not inherit.
    struct DescriptorPair {
        let reading: Descriptor
        let writing: Descriptor

        init() throws {
            var ends: [CInt] = [-1, -1]
            guard pipe(&ends) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EMFILE) }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            (reading, writing) = (Descriptor(ends[0]), Descriptor(ends[1]))
        }
    }
#endif
