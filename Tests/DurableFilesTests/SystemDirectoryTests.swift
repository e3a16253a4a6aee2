import DurableFiles
import DurableFilesTesting
import LoaderChainPlatformC
import LoaderChainPlatformFoundation
import Testing

/// Behavior that only a directory of the file system has.
@Suite(.timeLimit(.minutes(10))) struct SystemDirectoryTests {
    private let place: TemporaryDirectory

    init() throws { place = try TemporaryDirectory() }

    @Test func movedDirectoryStaysUsable() throws {
        let directory = try SystemDirectory(place.url.appending(path: "before"))
        try directory.makeFolder("folder")
        _ = try directory.create("file")
        let moved = place.url.appending(path: "moved, with a space")
        try FileManager.default.moveItem(at: place.url.appending(path: "before"), to: moved)
        _ = try directory.create("after")
        try directory.rename("after", to: "folder/after")
        #expect(Set(try directory.list("")) == ["file", "folder"])
        #expect(try directory.folder("folder").list("") == ["after"])
        #expect(place.names == ["moved, with a space"])
        let url = try #require(directory.url(of: "file"))
        #expect(FileManager.default.fileExists(atPath: url.path(percentEncoded: false)))
    }

    @Test func deletedDirectoryIsReported() throws {
        let directory = try SystemDirectory(place.url.appending(path: "gone"))
        try FileManager.default.removeItem(at: place.url.appending(path: "gone"))
        #expect(failure { () throws(FileFailure) in try directory.create("file") }?.isWithoutDirectory == true)
        #expect(failure { () throws(FileFailure) in try directory.open("file") }?.isWithoutDirectory == true)
        #expect(failure { () throws(FileFailure) in try directory.lock("lock") }?.isWithoutDirectory == true)
    }

    @Test func lockWithRemovedFileCanBeTakenAgain() throws {
        let directory = try SystemDirectory(place.url)
        let first = try directory.lock("lock")
        #expect(first != nil)
        try directory.remove("lock")
        let second = try directory.lock("lock")
        #expect(second != nil, "the name has another file")
        #expect(try directory.lock("lock") == nil)
        withExtendedLifetime((first, second)) {}
    }

    @Test func reopeningDirectoryAsFileIsRefused() throws {
        let directory = try SystemDirectory(place.url)
        try directory.makeFolder("folder")
        #expect(failure { () throws(FileFailure) in try directory.reopen("folder", keeping: 0) }?.isIrregular == true)
    }

    @Test func filesAndFoldersAreAccessibleToOwnerOnly() throws {
        let directory = try SystemDirectory(place.url.appending(path: "own"))
        try directory.makeFolder("folder")
        _ = try directory.create("file")
        func mode(_ path: String) -> mode_t {
            var status = stat()
            return stat(place.url.appending(path: path).path(percentEncoded: false), &status) == 0
                ? status.st_mode & 0o777 : 0
        }
        #expect(mode("own") == 0o700 && mode("own/folder") == 0o700 && mode("own/file") == 0o600)
    }

    @Test func openingIrregularFileIsRefusedAtOnce() throws {
        let directory = try SystemDirectory(place.url)
        try directory.makeFolder("folder")
        let pipe = place.url.appending(path: "pipe").path(percentEncoded: false)
        #expect(mkfifo(pipe, 0o600) == 0)
        try FileManager.default.createSymbolicLink(
            at: place.url.appending(path: "link"), withDestinationURL: place.url.appending(path: "file"))
        _ = try directory.create("file")
        #expect(failure { () throws(FileFailure) in try directory.open("folder") }?.isIrregular == true)
        #expect(failure { () throws(FileFailure) in try directory.open("pipe") }?.isIrregular == true)
        #expect(failure { () throws(FileFailure) in try directory.open("link") } != nil)
    }

    @Test func useOfClosedFileFails() throws {
        let directory = try SystemDirectory(place.url)
        let file = try directory.create("file")
        try file.close()
        try file.close()
        #expect(failure { () throws(FileFailure) in try file.write(Data([1]), at: 0) }?.code == EBADF)
        #expect(failure { () throws(FileFailure) in try file.sync() }?.code == EBADF)
    }

    @Test func unusableDirectoryIsRefused() throws {
        _ = try SystemDirectory(place.url).create("file")
        let inFile = place.url.appending(path: "file/directory")
        #expect(failure { () throws(FileFailure) in try SystemDirectory(inFile) }?.code == ENOTDIR)
        let missing = place.url.appending(path: "missing")
        #expect(failure { () throws(FileFailure) in try SystemDirectory(existing: missing) }?.isMissing == true)
        let web = try #require(URL(string: "https://example.com/directory"))
        #expect(failure { () throws(FileFailure) in try SystemDirectory(web) } != nil)
    }
}
