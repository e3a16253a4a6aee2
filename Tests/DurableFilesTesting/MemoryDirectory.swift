import DurableFiles
import LoaderChain
import LoaderChainPlatformC
import LoaderChainPlatformFoundation

/// An in-memory directory that counts operations, and fails or stops on demand.
///
/// A process that ends leaves all completed operations. A loss of power leaves synchronized data: the names of every folder, and
/// the bytes of every file, or a mix of old and new pages.
package final class MemoryDirectory: Directory {
    /// A fault at an operation, counted from 1.
    package enum Cut: Hashable, Sendable {
        /// The operation fails without effect, and later operations work again.
        case failure(at: Int, code: CInt)
        /// The operation and all later ones fail.
        case failures(from: Int, code: CInt)
        /// Writing fails; creating and removing files works.
        case fullDisk
        /// The process ends in the operation; half of a write has been done.
        case death(at: Int)
    }

    /// The rates of random faults.
    package struct Weather: Sendable {
        let random: RandomSource
        /// The share of operations that fail; a failed write may be partial.
        let failing: Double
        /// The share of reads that return less than requested.
        let short: Double
        let code: CInt

        package init(_ random: RandomSource, failing: Double, short: Double = 0, code: CInt = EIO) {
            (self.random, self.failing, self.short, self.code) = (random, failing, short, code)
        }
    }

    fileprivate struct Content {
        var bytes: [UInt8] = []
        var synced: [UInt8] = []
    }

    fileprivate struct State {
        var operations = 0
        var log: [(action: String, path: String)] = []
        var cut: Cut?
        /// The last operations of the process that ended last.
        var logAtDeath: [(action: String, path: String)] = []
        var weather: Weather?
        /// The operation that is held next, and what holds it.
        var hold: (action: String, wait: @Sendable () -> Void)?
        /// The random source that chooses slow operations; nil if none is slow.
        var slowness: (random: RandomSource, share: Double)?
        var failedPaths: Set<String> = []
        var isDead = false
        var capacity = Int.max
        var refusesReading = false
        /// The files that cannot be synchronized.
        var unsyncable: Set<String> = []
        var files: [Int: Content] = [:]
        var names: [String: Int] = [:]
        var syncedNames: [String: Int] = [:]
        var folders: Set<String> = []
        var lastFile = 0
        var life = 0
        var locks: Set<String> = []
    }

    private let state = Locked(State())

    package init() {}

    // MARK: Controlling the directory

    package var operations: Int { state.withLock { $0.operations } }
    package var log: [String] { state.withLock { $0.log }.map { "\($0.action) \($0.path)" } }
    /// The last operations of a process that ended in an operation; the last of them was not carried out.
    package var logAtDeath: [String] { state.withLock { $0.logAtDeath }.map { "\($0.action) \($0.path)" } }
    package var isDead: Bool { state.withLock { $0.isDead } }
    package var names: [String] { state.withLock { $0.names.keys.sorted() } }

    /// Sets the fault of later operations; nil for none.
    package func cut(_ cut: Cut?) {
        state.withLock {
            $0.cut = cut
            $0.operations = 0
            $0.log = []
        }
    }

    /// Sets the rates of random faults from now on; nil for none.
    package func weather(_ weather: Weather?) { state.withLock { $0.weather = weather } }

    /// Makes a share of the operations slow, so that other threads overtake them.
    package func slow(_ share: Double, _ random: RandomSource) {
        state.withLock { $0.slowness = share > 0 ? (random, share) : nil }
    }

    /// Calls `wait` in the next operation of a kind, such as “written”, before it has an effect: a disk that hangs for as long.
    package func hold(_ action: String, _ wait: @escaping @Sendable () -> Void) {
        state.withLock { $0.hold = (action, wait) }
    }

    /// The paths of operations that have failed, in all processes.
    package var failedPaths: Set<String> { state.withLock { $0.failedPaths } }

    /// Flips a bit of a file, as a failing disk does.
    ///
    /// - Parameter number: the number of the bit, modulo the number of bits in the file.
    /// - Returns: the position of the byte; nil if the file is empty.
    @discardableResult
    package func flipBit(_ number: Int, in path: String) -> Int? {
        state.withLock { state in
            guard let file = state.names[path], let count = state.files[file]?.bytes.count, count > 0 else {
                return nil
            }
            let (byte, mask) = (number / 8 % count, UInt8(1) << UInt8(number % 8))
            state.files[file]?.bytes[byte] ^= mask
            if let synced = state.files[file]?.synced.count, byte < synced { state.files[file]?.synced[byte] ^= mask }
            return byte
        }
    }

    /// Removes a file, like another program.
    package func vanish(_ path: String) {
        state.withLock { state in
            state.names[path] = nil
            state.syncedNames[path] = nil
        }
    }

    /// Limits the total number of bytes of all files.
    package func limit(_ capacity: Int) { state.withLock { $0.capacity = capacity } }

    /// Makes opening files for reading fail, as before a device was unlocked for the first time.
    package func refuseReading(_ refuses: Bool) { state.withLock { $0.refusesReading = refuses } }

    /// Makes synchronizing a file fail, as with a bad sector.
    package func refuseSync(of path: String) { state.withLock { _ = $0.unsyncable.insert(path) } }

    /// Ends the process now.
    package func kill() { state.withLock { $0.isDead = true } }

    /// Starts another process on the remaining files.
    ///
    /// - Parameters:
    ///   - powerWasLost: whether only synchronized data is left.
    ///   - random: the random source that chooses, after a loss of power, which other pages were written; nil for none.
    package func revive(afterPowerLoss powerWasLost: Bool = false, writtenPages random: RandomSource? = nil) {
        state.withLock { state in
            state.isDead = false
            state.logAtDeath = []
            // A fault that has happened does not happen again.
            if case .death(let operation) = state.cut, operation <= state.operations { state.cut = nil }
            state.life += 1
            state.locks = []
            guard powerWasLost else { return }
            state.names = state.syncedNames
            // Sorted, so that the result depends only on the random source.
            for (number, file) in state.files.sorted(by: { $0.key < $1.key }) {
                state.files[number]?.bytes = random.map { Self.mixed(file, $0) } ?? file.synced
            }
        }
    }

    private static func mixed(_ file: Content, _ random: RandomSource) -> [UInt8] {
        let page = 64
        var bytes = file.synced + [UInt8](repeating: 0, count: max(0, file.bytes.count - file.synced.count))
        for start in stride(from: 0, to: file.bytes.count, by: page) where random.chance(0.5) {
            let range = start..<min(start + page, file.bytes.count)
            bytes.replaceSubrange(range, with: file.bytes[range])
        }
        return bytes
    }

    package func bytes(of path: String) -> Data? {
        state.withLock { state in state.names[path].flatMap { state.files[$0] }.map { Data($0.bytes) } }
    }

    /// Adds a file, like another program.
    package func put(_ bytes: some Sequence<UInt8>, at path: String) {
        let bytes = Array(bytes)
        state.withLock { state in
            state.lastFile += 1
            state.files[state.lastFile] = Content(bytes: bytes, synced: bytes)
            state.names[path] = state.lastFile
            state.syncedNames[path] = state.lastFile
            if let slash = path.lastIndex(of: "/") { state.folders.insert(String(path[..<slash])) }
        }
    }

    // MARK: Operations

    /// Counts an operation, and carries it out unless it is the one at which the process ends.
    fileprivate func doing<Result>(
        _ action: String, _ path: String, partly: (inout State) -> Void = { _ in },
        _ body: (inout State) throws(FileFailure) -> Result
    ) throws(FileFailure) -> Result {
        takeAMoment(action)
        return try state.withLock { state throws(FileFailure) in
            guard !state.isDead else { throw FileFailure(action, path, code: EIO) }
            state.operations += 1
            state.log.append((action, path))
            do throws(FileFailure) {
                try state.meetTrouble(action, path, partly: partly)
                return try body(&state)
            } catch {
                if !error.isMissing { state.failedPaths.insert(path) }
                throw error
            }
        }
    }

    /// Waits if the disk hangs or is slow; synchronizing takes longest.
    private func takeAMoment(_ action: String) {
        let wait: (@Sendable () -> Void)? = state.withLock { state in
            guard let hold = state.hold, hold.action == action else { return nil }
            state.hold = nil
            return hold.wait
        }
        wait?()
        guard let (random, share) = state.withLock({ $0.slowness }), random.chance(share) else { return }
        let longest: UInt64 = action == "synchronized" ? 1_000 : 200
        usleep(UInt32(random.next() % longest))
    }

    package func makeFolder(_ path: String) throws(FileFailure) {
        try doing("made", path) { _ = $0.folders.insert(path) }
    }

    package func folder(_ path: String) throws(FileFailure) -> any Directory {
        try makeFolder(path)
        return MemoryFolder(directory: self, prefix: path + "/")
    }

    package func list(_ folder: String) throws(FileFailure) -> [String] {
        try doing("listed", folder) { state throws(FileFailure) in
            guard state.names[folder] == nil else { throw FileFailure("listed", folder, code: ENOTDIR) }
            let prefix = folder.isEmpty ? "" : folder + "/"
            let names = (Array(state.names.keys) + Array(state.folders)).filter { $0.hasPrefix(prefix) }
            var random = SeededGenerator(seed: UInt64(state.operations))
            return Set(names.map { String($0.dropFirst(prefix.count).prefix { $0 != "/" }) }.filter { !$0.isEmpty })
                .sorted().shuffled(using: &random)
        }
    }

    package func create(_ path: String) throws(FileFailure) -> any DurableFile {
        try doing("made", path) { state throws(FileFailure) in
            guard state.names[path] == nil else { throw FileFailure("made", path, code: EEXIST) }
            state.lastFile += 1
            state.files[state.lastFile] = Content()
            state.names[path] = state.lastFile
            return MemoryFile(
                directory: self, number: state.lastFile, path: path, life: state.life, mayRead: false, mayWrite: true)
        }
    }

    package func reopen(_ path: String, keeping length: Int64) throws(FileFailure) -> any DurableFile {
        try doing("shortened", path) { state throws(FileFailure) in
            guard let number = state.names[path], let count = state.files[number]?.bytes.count else {
                throw FileFailure("opened", path, code: ENOENT)
            }
            state.files[number]?.bytes.removeLast(max(0, count - Int(length)))
            return MemoryFile(
                directory: self, number: number, path: path, life: state.life, mayRead: false, mayWrite: true)
        }
    }

    package func open(_ path: String) throws(FileFailure) -> any DurableFile {
        try doing("opened", path) { state throws(FileFailure) in
            let number = try state.readable(path)
            return MemoryFile(
                directory: self, number: number, path: path, life: state.life, mayRead: true, mayWrite: false)
        }
    }

    package func update(_ path: String) throws(FileFailure) -> any DurableFile {
        try doing("opened", path) { state throws(FileFailure) in
            let number = try state.readable(path)
            return MemoryFile(
                directory: self, number: number, path: path, life: state.life, mayRead: true, mayWrite: true)
        }
    }

    package func share(_ path: String) throws(FileFailure) {
        try doing("shared", path) { state throws(FileFailure) in
            guard state.names[path] != nil else { throw FileFailure("shared", path, code: ENOENT) }
        }
    }

    package func rename(_ path: String, to newPath: String) throws(FileFailure) {
        try doing("renamed", path) { state throws(FileFailure) in
            guard let number = state.names.removeValue(forKey: path) else {
                throw FileFailure("renamed", path, code: ENOENT)
            }
            state.names[newPath] = number
        }
    }

    package func remove(_ path: String) throws(FileFailure) {
        try doing("removed", path) { $0.names[path] = nil }
    }

    package func syncFolder(_ folder: String) throws(FileFailure) {
        try doing("synchronized", folder) { state in
            func isIn(_ path: String) -> Bool {
                folder.isEmpty ? !path.contains("/") : path.hasPrefix(folder + "/")
            }
            state.syncedNames = state.syncedNames.filter { !isIn($0.key) }
            for (path, number) in state.names where isIn(path) { state.syncedNames[path] = number }
        }
    }

    package func lock(_ path: String) throws(FileFailure) -> (any Sendable)? {
        let life: Int? = try doing("locked", path) { state in
            state.locks.insert(path).inserted ? state.life : nil
        }
        return life.map { MemoryLock(directory: self, path: path, life: $0) }
    }

    fileprivate func unlock(_ path: String, of life: Int) {
        state.withLock { if $0.life == life { $0.locks.remove(path) } }
    }

    package func url(of path: String) -> URL? { nil }
}

extension MemoryDirectory.State {
    /// Throws if the operation that was just counted must fail.
    fileprivate mutating func meetTrouble(
        _ action: String, _ path: String, partly: (inout Self) -> Void
    ) throws(FileFailure) {
        switch cut {
        case .failure(operations, let code): throw FileFailure(action, path, code: code)
        case .failures(let first, let code) where operations >= first: throw FileFailure(action, path, code: code)
        case .fullDisk where action == "written": throw FileFailure(action, path, code: ENOSPC)
        case .death(operations):
            partly(&self)
            isDead = true
            logAtDeath = Array(log.suffix(3))
            throw FileFailure(action, path, code: EIO)
        default: break
        }
        guard let weather, weather.random.chance(weather.failing) else { return }
        if weather.random.chance(0.5) { partly(&self) }
        throw FileFailure(action, path, code: weather.code)
    }

    /// The number of the file at a path, for opening it.
    fileprivate func readable(_ path: String) throws(FileFailure) -> Int {
        if refusesReading { throw FileFailure("opened", path, code: EACCES) }
        guard let number = names[path] else { throw FileFailure("opened", path, code: ENOENT) }
        return number
    }

    /// The number of bytes that a read returns for a requested number.
    fileprivate func countOfRead(_ count: Int) -> Int {
        guard let weather, count > 1, weather.random.chance(weather.short) else { return count }
        return 1 + Int(weather.random.next() % UInt64(count))
    }
}

private final class MemoryLock: Sendable {
    let directory: MemoryDirectory
    let path: String
    let life: Int

    init(directory: MemoryDirectory, path: String, life: Int) {
        (self.directory, self.path, self.life) = (directory, path, life)
    }

    deinit { directory.unlock(path, of: life) }
}

/// An open file, whose process may have ended.
private final class MemoryFile: DurableFile {
    let directory: MemoryDirectory
    let number: Int
    let path: String
    let life: Int
    let mayRead: Bool
    let mayWrite: Bool

    init(directory: MemoryDirectory, number: Int, path: String, life: Int, mayRead: Bool, mayWrite: Bool) {
        (self.directory, self.number, self.path, self.life) = (directory, number, path, life)
        (self.mayRead, self.mayWrite) = (mayRead, mayWrite)
    }

    /// Not counted as an operation, because it does not access the disk.
    func length() -> Int64 { Int64(directory.count(of: number)) }

    func read(_ count: Int, at offset: Int64) throws(FileFailure) -> Data {
        try directory.doing("read", path) { state throws(FileFailure) in
            guard mayRead else { throw FileFailure("read", path, code: EBADF) }
            let bytes = state.files[number]?.bytes ?? []
            let count = state.countOfRead(count)
            return Data(bytes[min(Int(offset), bytes.count)..<min(Int(offset) + count, bytes.count)])
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileFailure) {
        let (bytes, offset) = (Array(bytes), Int(offset))
        try directory.doing("written", path, partly: { put(bytes.prefix(bytes.count / 2), at: offset, in: &$0) }) {
            state throws(FileFailure) in
            guard mayWrite else { throw FileFailure("written", path, code: EBADF) }
            if state.capacity < .max {
                let used = state.names.values.reduce(0) { $0 + (state.files[$1]?.bytes.count ?? 0) }
                let more = max(0, offset + bytes.count - (state.files[number]?.bytes.count ?? 0))
                guard used + more <= state.capacity else {
                    put(bytes.prefix(max(0, state.capacity - used)), at: offset, in: &state)
                    throw FileFailure("written", path, code: ENOSPC)
                }
            }
            put(bytes[...], at: offset, in: &state)
        }
    }

    private func put(_ bytes: ArraySlice<UInt8>, at offset: Int, in state: inout MemoryDirectory.State) {
        guard state.life == life, let index = state.files.index(forKey: number) else { return }
        // In place, because copying a long file for every line would be slow.
        let missing = offset + bytes.count - state.files.values[index].bytes.count
        if missing > 0 { state.files.values[index].bytes += [UInt8](repeating: 0, count: missing) }
        state.files.values[index].bytes.withUnsafeMutableBytes { all in
            bytes.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: all[offset...]).copyMemory(from: $0) }
        }
    }

    func sync() throws(FileFailure) {
        try directory.doing("synchronized", path) { state throws(FileFailure) in
            if state.unsyncable.contains(path) { throw FileFailure("synchronized", path, code: EIO) }
            if let bytes = state.files[number]?.bytes { state.files[number]?.synced = bytes }
        }
    }

    func close() throws(FileFailure) { try directory.doing("closed", path) { _ in } }
}

extension MemoryDirectory {
    fileprivate func count(of file: Int) -> Int { state.withLock { $0.files[file]?.bytes.count ?? 0 } }
}

/// A folder of the directory as a separate directory.
private struct MemoryFolder: Directory {
    let directory: MemoryDirectory
    let prefix: String

    private func path(_ folder: String) -> String { folder.isEmpty ? String(prefix.dropLast()) : prefix + folder }

    func makeFolder(_ path: String) throws(FileFailure) { try directory.makeFolder(prefix + path) }
    func folder(_ path: String) throws(FileFailure) -> any Directory { try directory.folder(prefix + path) }
    func list(_ folder: String) throws(FileFailure) -> [String] { try directory.list(path(folder)) }
    func create(_ path: String) throws(FileFailure) -> any DurableFile { try directory.create(prefix + path) }
    func reopen(_ path: String, keeping length: Int64) throws(FileFailure) -> any DurableFile {
        try directory.reopen(prefix + path, keeping: length)
    }
    func open(_ path: String) throws(FileFailure) -> any DurableFile { try directory.open(prefix + path) }
    func update(_ path: String) throws(FileFailure) -> any DurableFile { try directory.update(prefix + path) }
    func share(_ path: String) throws(FileFailure) { try directory.share(prefix + path) }
    func rename(_ path: String, to newPath: String) throws(FileFailure) {
        try directory.rename(prefix + path, to: prefix + newPath)
    }
    func remove(_ path: String) throws(FileFailure) { try directory.remove(prefix + path) }
    func syncFolder(_ folder: String) throws(FileFailure) { try directory.syncFolder(path(folder)) }
    func lock(_ path: String) throws(FileFailure) -> (any Sendable)? { try directory.lock(prefix + path) }
    func url(of path: String) -> URL? { nil }
}
