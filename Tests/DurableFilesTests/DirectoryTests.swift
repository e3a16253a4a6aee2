import DurableFiles
import DurableFilesTesting
import LoaderChain
import LoaderChainPlatformFoundation
import Testing

/// The behavior of every directory: of the file system's, and of the in-memory directory for tests.
@Suite(.timeLimit(.minutes(10))) struct DirectoryTests {
    enum Kind: CaseIterable { case system, memory }

    private let place: TemporaryDirectory

    init() throws { place = try TemporaryDirectory() }

    private func directory(_ kind: Kind) throws -> any Directory {
        switch kind {
        case .system: try SystemDirectory(place.url.appending(path: "a/b"))
        case .memory: MemoryDirectory()
        }
    }

    @Test(arguments: Kind.allCases) func bytesAreReadAsTheyWereWritten(_ kind: Kind) throws {
        let directory = try directory(kind)
        let file = try directory.create("file")
        try file.write(Data("world".utf8), at: 6)
        try file.write(Data("hello ".utf8), at: 0)
        try file.sync()
        try file.close()
        let opened = try directory.open("file")
        #expect(try opened.length() == 11)
        #expect(try opened.read(100, at: 6) == Data("world".utf8))
        #expect(try opened.read(3, at: 11).isEmpty)
        #expect(try directory.contents(of: "file", upTo: 11) == Data("hello world".utf8))
        #expect(failure { () throws(FileFailure) in try directory.contents(of: "file", upTo: 10) }?.isTooLong == true)
    }

    @Test(arguments: Kind.allCases) func createdFileIsWriteOnlyAndOpenedFileIsReadOnly(_ kind: Kind) throws {
        let directory = try directory(kind)
        let created = try directory.create("file")
        try created.write(Data("bytes".utf8), at: 0)
        #expect(failure { () throws(FileFailure) in try created.read(5, at: 0) } != nil)
        let opened = try directory.open("file")
        #expect(failure { () throws(FileFailure) in try opened.write(Data("other".utf8), at: 0) } != nil)
        #expect(try opened.read(5, at: 0) == Data("bytes".utf8))
    }

    @Test(arguments: Kind.allCases) func reopenedFileKeepsRequestedBytes(_ kind: Kind) throws {
        let directory = try directory(kind)
        let created = try directory.create("file")
        try created.write(Data("hello world".utf8), at: 0)
        try created.close()
        let reopened = try directory.reopen("file", keeping: 5)
        try reopened.write(Data("!".utf8), at: 5)
        try reopened.close()
        #expect(try directory.contents(of: "file", upTo: 100) == Data("hello!".utf8))
        #expect(try directory.reopen("file", keeping: 100).length() == 6)
        #expect(failure { () throws(FileFailure) in try directory.reopen("none", keeping: 0) }?.isMissing == true)
    }

    @Test(arguments: Kind.allCases) func fileIsUpdatedInPlace(_ kind: Kind) throws {
        let directory = try directory(kind)
        #expect(failure { () throws(FileFailure) in try directory.update("file") }?.isMissing == true)
        try directory.create("file").write(Data("hello world".utf8), at: 0)
        let reader = try directory.open("file")
        let file = try directory.update("file")
        try file.write(Data("there".utf8), at: 6)
        #expect(try file.read(100, at: 0) == Data("hello there".utf8))
        #expect(try reader.read(100, at: 0) == Data("hello there".utf8))
    }

    @Test(arguments: Kind.allCases) func namesAreCreatedRenamedAndRemoved(_ kind: Kind) throws {
        let directory = try directory(kind)
        try directory.makeFolder("folder")
        try directory.makeFolder("folder")
        for name in ["one", "two", "folder/three"] { _ = try directory.create(name) }
        #expect(failure { () throws(FileFailure) in try directory.create("one") } != nil)
        #expect(Set(try directory.list("")) == ["one", "two", "folder"])
        try directory.rename("one", to: "two")
        try directory.rename("two", to: "folder/two")
        #expect(Set(try directory.list("folder")) == ["two", "three"])
        #expect(Set(try directory.folder("folder").list("")) == ["two", "three"])
        try directory.remove("folder/two")
        try directory.remove("folder/two")
        try directory.syncFolder("")
        try directory.syncFolder("folder")
        try directory.sync("folder/three")
        try directory.sync("missing")
        #expect(failure { () throws(FileFailure) in try directory.open("two") }?.isMissing == true)
        #expect(failure { () throws(FileFailure) in try directory.rename("two", to: "one") }?.isMissing == true)
    }

    @Test(arguments: Kind.allCases) func heldLockCannotBeTakenAgain(_ kind: Kind) throws {
        let directory = try directory(kind)
        let lock = try directory.lock("lock")
        #expect(lock != nil)
        #expect(try directory.lock("lock") == nil)
        #expect(try directory.folder("other").lock("lock") != nil)
        withExtendedLifetime(lock) {}
    }

    @Test(arguments: Kind.allCases) func releasedLockCanBeTakenAgain(_ kind: Kind) throws {
        let directory = try directory(kind)
        do {
            let lock = try directory.lock("lock")
            withExtendedLifetime(lock) {}
        }
        #expect(try directory.lock("lock") != nil)
    }

    @Test(arguments: Kind.allCases) func replacedFileHasNewContent(_ kind: Kind) throws {
        let directory = try directory(kind)
        for text in ["first", "second, which is longer", "3rd"] {
            try directory.replace("file", with: Data(text.utf8), through: "tmp-file")
            #expect(try directory.contents(of: "file", upTo: 100) == Data(text.utf8))
            #expect(try directory.list("") == ["file"])
        }
    }

    /// Whichever operation is the last before a loss of power, the file has the complete old or new content.
    @Test func replacedFileIsOldOrNewAfterPowerLoss() throws {
        for operation in 1...20 {
            let directory = MemoryDirectory()
            try directory.replace("file", with: Data("old".utf8), through: "tmp")
            directory.cut(.death(at: operation))
            try? directory.replace("file", with: Data("newer".utf8), through: "tmp")
            directory.revive(afterPowerLoss: true)
            let content = directory.bytes(of: "file").map { String(decoding: $0, as: UTF8.self) }
            #expect(["old", "newer"].contains(content), "operation \(operation)")
        }
    }

    @Test func failedReplacementLeavesNoTemporaryFile() throws {
        for operation in 1...6 {
            let directory = MemoryDirectory()
            try directory.replace("file", with: Data("old".utf8), through: "tmp")
            directory.cut(.failure(at: operation, code: 28))
            try? directory.replace("file", with: Data("newer".utf8), through: "tmp")
            #expect(directory.names == ["file"], "operation \(operation)")
        }
    }
}

func failure<Result>(_ body: () throws(FileFailure) -> Result) -> FileFailure? {
    do throws(FileFailure) { _ = try body() } catch { return error }
    return nil
}
