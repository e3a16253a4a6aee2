import LoaderChain
import ReportOutbox

@testable import InfluxReporting

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

/// A directory in memory that counts everything that is done to it, and fails or dies whenever a test says so.
///
/// A process that dies leaves what it has done. A loss of power leaves what was synchronized, and of the rest whatever it
/// happens to.
final class MemoryJournal: JournalDisk {
    /// What is to happen at an operation, counted from 1.
    enum Cut: Hashable {
        /// It does nothing and fails, and the next ones work again.
        case failure(at: Int, code: CInt)
        /// It fails, and all after it until the disk is healed.
        case failures(from: Int, code: CInt)
        /// Nothing can be written, while files can be made and removed, until the disk is healed.
        case fullDisk
        /// The process ends in it; of a write, half has been done.
        case death(at: Int)
    }

    private struct File {
        var bytes: [UInt8] = []
        var synced: [UInt8] = []
    }

    private struct State {
        var operations = 0
        var cut: Cut?
        var isDead = false
        var files: [Int: File] = [:]
        var names: [String: Int] = [:]
        var syncedNames: [String: Int] = [:]
        var lastFile = 0
        var life = 0
        var isLocked = false
    }

    private let state = Guarded(State())

    // MARK: What a test does

    var operations: Int { state.withLock { $0.operations } }
    var isDead: Bool { state.withLock { $0.isDead } }
    var names: [String] { state.withLock { $0.names.keys.sorted() } }

    func cut(_ cut: Cut?) {
        state.withLock {
            $0.cut = cut
            $0.operations = 0
        }
    }

    func kill() { state.withLock { $0.isDead = true } }

    /// Lets another process find what is there; after a loss of power, the dice say which pages were written anyway.
    func revive(afterPowerLoss dice: Dice? = nil) {
        state.withLock { state in
            state.isDead = false
            state.cut = nil
            state.life += 1
            state.isLocked = false
            guard let dice else { return }
            state.names = state.syncedNames
            for (number, file) in state.files { state.files[number]?.bytes = Self.mixed(file, dice) }
        }
    }

    private static func mixed(_ file: File, _ dice: Dice) -> [UInt8] {
        let page = 64
        var bytes = file.synced + [UInt8](repeating: 0, count: max(0, file.bytes.count - file.synced.count))
        for start in stride(from: 0, to: file.bytes.count, by: page) where dice.chance(0.5) {
            let range = start..<min(start + page, file.bytes.count)
            bytes.replaceSubrange(range, with: file.bytes[range])
        }
        return bytes
    }

    func put(_ bytes: [UInt8], at name: String) {
        state.withLock { state in
            state.lastFile += 1
            state.files[state.lastFile] = File(bytes: bytes, synced: bytes)
            state.names[name] = state.lastFile
            state.syncedNames[name] = state.lastFile
        }
    }

    func bytes(of name: String) -> [UInt8]? {
        state.withLock { state in state.names[name].flatMap { state.files[$0]?.bytes } }
    }

    // MARK: The operations

    private func doing<Result>(
        _ action: String, _ name: String, partly: (inout State) -> Void = { _ in },
        _ body: (inout State) throws(FileFailure) -> Result
    ) throws(FileFailure) -> Result {
        try state.withLock { state throws(FileFailure) in
            guard !state.isDead else { throw FileFailure(action, name, code: EIO) }
            state.operations += 1
            switch state.cut {
            case .failure(state.operations, let code): throw FileFailure(action, name, code: code)
            case .failures(let first, let code) where state.operations >= first:
                throw FileFailure(action, name, code: code)
            case .fullDisk where action == "written": throw FileFailure(action, name, code: ENOSPC)
            case .death(state.operations):
                partly(&state)
                state.isDead = true
                throw FileFailure(action, name, code: EIO)
            default: return try body(&state)
            }
        }
    }

    func list() throws(FileFailure) -> [String] {
        try doing("listed", "") { $0.names.keys.shuffled() }
    }

    func make(_ name: String) throws(FileFailure) -> any JournalFile {
        try doing("made", name) { state throws(FileFailure) in
            guard state.names[name] == nil else { throw FileFailure("made", name, code: EEXIST) }
            state.lastFile += 1
            state.files[state.lastFile] = File()
            state.names[name] = state.lastFile
            return OpenFile(journal: self, number: state.lastFile, name: name, life: state.life)
        }
    }

    func read(_ name: String) throws(FileFailure) -> Data {
        try doing("read", name) { state throws(FileFailure) in
            guard let number = state.names[name], let file = state.files[number] else {
                throw FileFailure("read", name, code: ENOENT)
            }
            return Data(file.bytes)
        }
    }

    func rename(_ name: String, to newName: String) throws(FileFailure) {
        try doing("renamed", name) { state throws(FileFailure) in
            guard let number = state.names.removeValue(forKey: name) else {
                throw FileFailure("renamed", name, code: ENOENT)
            }
            state.names[newName] = number
        }
    }

    func remove(_ name: String) throws(FileFailure) { try doing("removed", name) { $0.names[name] = nil } }

    func sync(_ name: String) throws(FileFailure) {
        try doing("synchronized", name) { state in
            if let number = state.names[name], let file = state.files[number] {
                state.files[number]?.synced = file.bytes
            }
        }
    }

    func syncFolder() throws(FileFailure) { try doing("synchronized", "") { $0.syncedNames = $0.names } }

    func lock() throws(FileFailure) -> (any Sendable)? {
        let life: Int? = try doing("locked", "lock") { state in
            defer { state.isLocked = true }
            return state.isLocked ? nil : state.life
        }
        return life.map { Lock(journal: self, life: $0) }
    }

    private final class Lock: Sendable {
        let journal: MemoryJournal
        let life: Int
        init(journal: MemoryJournal, life: Int) { (self.journal, self.life) = (journal, life) }
        deinit { journal.state.withLock { if $0.life == life { $0.isLocked = false } } }
    }

    private final class OpenFile: JournalFile {
        let journal: MemoryJournal
        let number: Int
        let name: String
        let life: Int

        init(journal: MemoryJournal, number: Int, name: String, life: Int) {
            (self.journal, self.number, self.name, self.life) = (journal, number, name, life)
        }

        func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(FileFailure) {
            let bytes = Array(bytes)
            func put(_ bytes: ArraySlice<UInt8>, _ state: inout State) {
                guard state.life == life, var file = state.files[number] else { return }
                let missing = offset + bytes.count - file.bytes.count
                if missing > 0 { file.bytes += [UInt8](repeating: 0, count: missing) }
                file.bytes.replaceSubrange(offset..<(offset + bytes.count), with: bytes)
                state.files[number] = file
            }
            try journal.doing("written", name, partly: { put(bytes.prefix(bytes.count / 2), &$0) }) {
                put(bytes[...], &$0)
            }
        }

        func sync() throws(FileFailure) {
            try journal.doing("synchronized", name) { state in
                if let file = state.files[number] { state.files[number]?.synced = file.bytes }
            }
        }
    }
}
