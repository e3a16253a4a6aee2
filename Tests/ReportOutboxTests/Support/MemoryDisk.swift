import LoaderChain
import ReportOutbox

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

/// A disk that counts everything that is done to it, and fails or dies whenever a test says so.
///
/// A process that dies leaves what it has done. A loss of power leaves what was synchronized: of every folder the names, and of
/// every file the bytes.
final class MemoryDisk: FileSystem {
    /// What is to happen at an operation, counted from 1.
    enum Cut: Hashable {
        /// It does nothing and fails, and the next ones work again.
        case failure(at: Int, code: CInt)
        /// The process ends in it; of a write, half has been done.
        case death(at: Int)
    }

    private struct File {
        var bytes: [UInt8] = []
        var synced: [UInt8] = []
    }

    private struct State {
        var operations = 0
        var log: [String] = []
        var cut: Cut?
        var isDead = false
        var room = Int.max
        var isLocked = false
        var files: [Int: File] = [:]
        var names: [String: Int] = [:]
        var syncedNames: [String: Int] = [:]
        var folders: Set<String> = []
        var lastFile = 0
        var life = 0
        var locks: Set<String> = []
    }

    private let state = Guarded(State())

    // MARK: What a test does

    var operations: Int { state.withLock { $0.operations } }
    var log: [String] { state.withLock { $0.log } }
    var isDead: Bool { state.withLock { $0.isDead } }
    var names: [String] { state.withLock { $0.names.keys.sorted() } }

    /// Sets what happens at an operation from now on.
    func cut(_ cut: Cut?) {
        state.withLock {
            $0.cut = cut
            $0.operations = 0
            $0.log = []
        }
    }

    /// Lets everything work from now on.
    func heal() { state.withLock { $0.cut = nil } }

    /// Limits how many bytes all files may have.
    func limit(_ room: Int) { state.withLock { $0.room = room } }

    /// Lets no file be opened to read from, as before a device was unlocked for the first time.
    func lock(_ isLocked: Bool) { state.withLock { $0.isLocked = isLocked } }

    /// Ends the process at this moment.
    func kill() { state.withLock { $0.isDead = true } }

    /// Lets another process find what is there.
    func revive(afterPowerLoss powerWasLost: Bool = false) {
        state.withLock { state in
            state.isDead = false
            // A cut that has happened does not happen again.
            if case .death(let operation) = state.cut, operation <= state.operations { state.cut = nil }
            state.life += 1
            state.locks = []
            guard powerWasLost else { return }
            state.names = state.syncedNames
            for (number, file) in state.files { state.files[number]?.bytes = file.synced }
        }
    }

    func bytes(of path: String) -> Data? {
        state.withLock { state in state.names[path].flatMap { state.files[$0] }.map { Data($0.bytes) } }
    }

    /// Puts a file there, as somebody else would.
    func put(_ bytes: Data, at path: String) {
        state.withLock { state in
            state.lastFile += 1
            state.files[state.lastFile] = File(bytes: Array(bytes), synced: Array(bytes))
            state.names[path] = state.lastFile
            state.syncedNames[path] = state.lastFile
            if let slash = path.lastIndex(of: "/") { state.folders.insert(String(path[..<slash])) }
        }
    }

    // MARK: The operations

    /// Counts an operation, and carries it out unless it is the one that is cut.
    private func doing<Result>(
        _ action: String, _ path: String, partly: (inout State) -> Void = { _ in },
        _ body: (inout State) throws(FileFailure) -> Result
    ) throws(FileFailure) -> Result {
        try state.withLock { state throws(FileFailure) in
            guard !state.isDead else { throw FileFailure(action, path, code: EIO) }
            state.operations += 1
            state.log.append("\(action) \(path)")
            switch state.cut {
            case .failure(state.operations, let code): throw FileFailure(action, path, code: code)
            case .death(state.operations):
                partly(&state)
                state.isDead = true
                throw FileFailure(action, path, code: EIO)
            default: return try body(&state)
            }
        }
    }

    func makeFolder(_ path: String) throws(FileFailure) {
        try doing("made", path) { _ = $0.folders.insert(path) }
    }

    func folder(_ path: String) throws(FileFailure) -> any FileSystem { FolderOfDisk(disk: self, prefix: path + "/") }

    func list(_ folder: String) throws(FileFailure) -> [String] {
        try doing("listed", folder) { state in
            let prefix = folder.isEmpty ? "" : folder + "/"
            let names = (Array(state.names.keys) + Array(state.folders)).filter { $0.hasPrefix(prefix) }
            return Set(names.map { String($0.dropFirst(prefix.count).prefix { $0 != "/" }) }.filter { !$0.isEmpty })
                .sorted()
        }
    }

    func create(_ path: String) throws(FileFailure) -> any OutputFile {
        try doing("made", path) { state throws(FileFailure) in
            guard state.names[path] == nil else { throw FileFailure("made", path, code: EEXIST) }
            state.lastFile += 1
            state.files[state.lastFile] = File()
            state.names[path] = state.lastFile
            return DiskOutput(disk: self, number: state.lastFile, path: path)
        }
    }

    fileprivate func write(_ bytes: UnsafeRawBufferPointer, to number: Int, _ path: String) throws(FileFailure) {
        try doing(
            "written", path, partly: { $0.files[number]?.bytes += Array(bytes.prefix(bytes.count / 2)) }
        ) { state throws(FileFailure) in
            let used = state.names.values.reduce(0) { $0 + (state.files[$1]?.bytes.count ?? 0) }
            guard used + bytes.count <= state.room else {
                state.files[number]?.bytes += Array(bytes.prefix(max(0, state.room - used)))
                throw FileFailure("written", path, code: ENOSPC)
            }
            state.files[number]?.bytes += Array(bytes)
        }
    }

    fileprivate func sync(_ number: Int, _ path: String) throws(FileFailure) {
        try doing("synchronized", path) { state in
            if let bytes = state.files[number]?.bytes { state.files[number]?.synced = bytes }
        }
    }

    fileprivate func close(_ path: String) throws(FileFailure) { try doing("closed", path) { _ in } }

    func open(_ path: String) throws(FileFailure) -> any InputFile {
        try doing("opened", path) { state throws(FileFailure) in
            if state.isLocked { throw FileFailure("opened", path, code: EACCES) }
            guard let number = state.names[path], let file = state.files[number] else {
                throw FileFailure("opened", path, code: ENOENT)
            }
            return DiskInput(disk: self, path: path, bytes: file.bytes)
        }
    }

    fileprivate func reads(_ path: String) throws(FileFailure) { try doing("read", path) { _ in } }

    func rename(_ path: String, to newPath: String) throws(FileFailure) {
        try doing("renamed", path) { state throws(FileFailure) in
            guard let number = state.names[path] else { throw FileFailure("renamed", path, code: ENOENT) }
            state.names[path] = nil
            state.names[newPath] = number
        }
    }

    func remove(_ path: String) throws(FileFailure) {
        try doing("removed", path) { $0.names[path] = nil }
    }

    func syncFolder(_ folder: String) throws(FileFailure) {
        try doing("synchronized", folder) { state in
            func isIn(_ path: String) -> Bool {
                folder.isEmpty ? !path.contains("/") : path.hasPrefix(folder + "/")
            }
            state.syncedNames = state.syncedNames.filter { !isIn($0.key) }
            for (path, number) in state.names where isIn(path) { state.syncedNames[path] = number }
        }
    }

    func lock(_ path: String) throws(FileFailure) -> (any Sendable)? {
        let life: Int? = try doing("locked", path) { state in
            state.locks.insert(path).inserted ? state.life : nil
        }
        return life.map { DiskLock(disk: self, path: path, life: $0) }
    }

    fileprivate func unlock(_ path: String, of life: Int) {
        state.withLock { if $0.life == life { $0.locks.remove(path) } }
    }

    func url(of path: String) -> URL? { nil }
}

private final class DiskLock: Sendable {
    let disk: MemoryDisk
    let path: String
    let life: Int
    init(disk: MemoryDisk, path: String, life: Int) { (self.disk, self.path, self.life) = (disk, path, life) }
    deinit { disk.unlock(path, of: life) }
}

private final class DiskOutput: OutputFile {
    let disk: MemoryDisk
    let number: Int
    let path: String
    init(disk: MemoryDisk, number: Int, path: String) { (self.disk, self.number, self.path) = (disk, number, path) }
    func write(_ bytes: UnsafeRawBufferPointer) throws(FileFailure) { try disk.write(bytes, to: number, path) }
    func sync() throws(FileFailure) { try disk.sync(number, path) }
    func close() throws(FileFailure) { try disk.close(path) }
}

private struct DiskInput: InputFile {
    let disk: MemoryDisk
    let path: String
    let bytes: [UInt8]
    var length: Int64 { Int64(bytes.count) }
    func read(_ count: Int, at offset: Int64) throws(FileFailure) -> Data {
        try disk.reads(path)
        return Data(bytes[min(Int(offset), bytes.count)..<min(Int(offset) + count, bytes.count)])
    }
}

/// A folder of the disk as a disk.
private struct FolderOfDisk: FileSystem {
    let disk: MemoryDisk
    let prefix: String
    func makeFolder(_ path: String) throws(FileFailure) { try disk.makeFolder(prefix + path) }
    func folder(_ path: String) throws(FileFailure) -> any FileSystem {
        FolderOfDisk(disk: disk, prefix: prefix + path + "/")
    }
    func list(_ folder: String) throws(FileFailure) -> [String] {
        try disk.list(folder.isEmpty ? String(prefix.dropLast()) : prefix + folder)
    }
    func create(_ path: String) throws(FileFailure) -> any OutputFile { try disk.create(prefix + path) }
    func open(_ path: String) throws(FileFailure) -> any InputFile { try disk.open(prefix + path) }
    func rename(_ path: String, to newPath: String) throws(FileFailure) {
        try disk.rename(prefix + path, to: prefix + newPath)
    }
    func remove(_ path: String) throws(FileFailure) { try disk.remove(prefix + path) }
    func syncFolder(_ folder: String) throws(FileFailure) {
        try disk.syncFolder(folder.isEmpty ? String(prefix.dropLast()) : prefix + folder)
    }
    func lock(_ path: String) throws(FileFailure) -> (any Sendable)? { try disk.lock(prefix + path) }
    func url(of path: String) -> URL? { nil }
}
