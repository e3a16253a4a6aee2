import Foundation
import LoaderChain
import LoaderChainTesting
import Testing

@testable import APIHealthKit

@Suite(.timeLimit(.minutes(10))) struct PageFileTests {
    private static let line = "APIHealth,host=a,method=GET,outcome=success,path=/ duration=0.01 1700000000000000000\n"

    private let folder: TestFolder
    private let program = TestProgram()

    init() throws {
        folder = try TestFolder()
        try folder.write(Self.line, to: "y.lp")
    }

    private func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: folder.path(name), withDestinationPath: target)
    }

    private func isLink(_ name: String) -> Bool {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: folder.path(name))) != nil
    }

    @Test func pageNeverReplacesItsInput() async throws {
        try link("soft.html", to: "y.lp")
        try FileManager.default.linkItem(atPath: folder.path("y.lp"), toPath: folder.path("hard.html"))
        for name in ["y.lp", "./y.lp", "soft.html", "hard.html"] {
            let output = folder.url.path(percentEncoded: false) + "/" + name
            #expect(await program.run("report", folder.path("y.lp"), "--output", output) == .usage, "\(name)")
            #expect(try folder.text("y.lp") == Self.line, "\(name)")
        }
        #expect(program.complaints.text.contains("would replace"))
        #expect(program.written.text.isEmpty)
    }

    @Test func outputLinkIsFollowedAndKept() async throws {
        try folder.write("old", to: "old.html")
        try link("page.html", to: "old.html")
        try link("dangling.html", to: "new.html")
        for (name, target) in [("page.html", "old.html"), ("dangling.html", "new.html")] {
            #expect(await program.run("report", folder.path("y.lp"), "--output", folder.path(name)) == .success)
            #expect(isLink(name), "\(name)")
            #expect(try folder.text(target).hasPrefix("<!DOCTYPE html>"), "\(target)")
        }
    }

    /// Somebody else may have put a link there, in a folder for all.
    @Test func linkIsNotFollowedUnlessItWasGiven() async throws {
        try folder.write("old", to: "old.html")
        try folder.write(Self.line, to: "z.lp")
        try link("y.html", to: "old.html")
        try link("z.html", to: "new.html")
        for name in ["y", "z"] {
            #expect(await program.run("report", folder.path(name + ".lp")) == .failure, "\(name)")
            #expect(isLink(name + ".html"), "\(name)")
        }
        #expect(try folder.text("old.html") == "old")
        #expect(!FileManager.default.fileExists(atPath: folder.path("new.html")))
        #expect(program.complaints.text.contains("--output"))
    }

    @Test func specialFileIsWrittenInPlace() async throws {
        let path = folder.path("pipe")
        try #require(mkfifo(path, 0o600) == 0)
        // Open for both, so that neither side waits for the other to open it.
        let number = open(path, O_RDWR)
        try #require(number >= 0)
        defer { close(number) }
        // A pipe may have less room than the page needs.
        let page = Locked("")
        let reader = try SystemThread {
            var bytes = [UInt8](repeating: 0, count: 4_096)
            while true {
                let count = read(number, &bytes, bytes.count)
                let isOver = page.withLock { page in
                    if count > 0 { page += String(decoding: bytes[..<count], as: UTF8.self) }
                    return page.hasSuffix("the end")
                }
                if count <= 0 || isOver { return }
            }
        }
        #expect(await program.run("report", folder.path("y.lp"), "--output", path) == .success)
        #expect(write(number, "the end", 7) == 7)
        reader.join()
        #expect(page.withLock { $0.hasPrefix("<!DOCTYPE html>") })
        #expect(
            try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType != .typeRegular)
        #expect(await program.run("report", folder.path("y.lp"), "--output", folder.path("")) == .failure)
        #expect(program.complaints.text.contains("cannot be written"))
    }

    @Test func dashWritesToStandardOutput() async throws {
        #expect(await program.run("report", folder.path("y.lp"), "--output", "-") == .success)
        #expect(program.written.text.hasPrefix("<!DOCTYPE html>"))
        #expect(program.written.text.hasSuffix("</html>\n"))
        #expect(program.complaints.text.contains("shows 1 request to 1 route"))
        #expect(!FileManager.default.fileExists(atPath: "-"))
    }
}
