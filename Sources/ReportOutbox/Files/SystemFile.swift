import LoaderChain

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A new file of the machine, closed at the latest when it is let go of.
final class SystemOutput: OutputFile {
    private var number: CInt?
    private let path: String

    init(number: CInt, path: String) {
        self.number = number
        self.path = path
    }

    deinit {
        if let number { closeDescriptor(number) }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(FileFailure) {
        var rest = bytes[...]
        while let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty {
            let count = rest.count
            let number = number ?? -1
            let (written, code) = uninterrupted { writeBytes(number, start, count) }
            guard written >= 0 else { throw FileFailure("written", path, code: code) }
            rest = rest.dropFirst(written)
        }
    }

    func sync() throws(FileFailure) {
        let number = number ?? -1
        let (answer, code) = synchronizeDescriptor(number)
        guard answer == 0 else { throw FileFailure("synchronized", path, code: code) }
    }

    func close() throws(FileFailure) {
        guard let number = exchange(&number, with: nil) else { return }
        // Not repeated after a signal: the descriptor is gone whatever the answer says.
        let answer = closeDescriptor(number)
        guard answer == 0 || errno == EINTR else { throw FileFailure("closed", path, code: errno) }
    }
}

/// A file of the machine that is open to read from.
final class SystemInput: InputFile {
    private let number: CInt
    private let path: String
    let length: Int64

    init(root: CInt, path: String) throws(FileFailure) {
        // A pipe would wait for its writer; it is opened without waiting, and refused for what it is.
        let (number, code) = uninterrupted { openat(root, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW) }
        guard number >= 0 else { throw FileFailure("opened", path, code: code) }
        var status = stat()
        let (answer, statusCode) = uninterrupted { fstat(number, &status) }
        guard answer == 0, status.st_mode & S_IFMT == S_IFREG else {
            closeDescriptor(number)
            throw FileFailure("opened", path, code: answer == 0 ? EISDIR : statusCode)
        }
        self.number = number
        self.path = path
        length = Int64(status.st_size)
    }

    deinit { closeDescriptor(number) }

    func read(_ count: Int, at offset: Int64) throws(FileFailure) -> Data {
        var bytes = Data(count: count)
        let (got, code) = bytes.withUnsafeMutableBytes { buffer in
            uninterrupted { pread(number, buffer.baseAddress, buffer.count, off_t(offset)) }
        }
        guard got >= 0 else { throw FileFailure("read", path, code: code) }
        if got < count { bytes.count = got }
        return bytes
    }
}

// The methods above would hide the system's calls of the same name.

@discardableResult
private func closeDescriptor(_ number: CInt) -> CInt { close(number) }

private func writeBytes(_ number: CInt, _ bytes: UnsafeRawPointer, _ count: Int) -> Int { write(number, bytes, count) }
