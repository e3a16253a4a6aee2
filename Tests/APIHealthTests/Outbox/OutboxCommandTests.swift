import Foundation
import LoaderChain
import LoaderChainTesting
import ReportOutbox
import Testing

@testable import APIHealthKit

@Suite(.timeLimit(.minutes(10))) struct OutboxCommandTests {
    private let folder: TestFolder
    private let box: String

    init() throws {
        folder = try TestFolder()
        box = folder.path("box")
    }

    private func request() throws -> HTTPRequest {
        HTTPRequest(
            method: .post, url: try #require(URL(string: "https://reports.example/crash?q=s3cret")),
            headers: ["X-Kind": "crash"])
    }

    /// Leaves reports that wait in the outbox.
    private func fill(_ identifiers: String...) throws {
        let outbox = try ReportOutbox(directory: URL(filePath: box), chain: HTTPLoader(), startsSending: false)
        for id in identifiers { try outbox.submit(Data("bytes of \(id)".utf8), identifier: id, request: request()) }
        outbox.drain()
    }

    /// Leaves a report in the outbox that a server refused for good.
    private func deadLetter(_ identifier: String) async throws {
        let outbox = try ReportOutbox(
            directory: URL(filePath: box), chain: ScriptedTerminal { _ in .success(.badRequest) })
        let events = outbox.events
        try outbox.submit(Data("bytes".utf8), identifier: identifier, request: request())
        for await event in events {
            if case .deadLettered = event { break }
        }
        await outbox.close()
    }

    private func run(_ arguments: String...) async -> (status: ProgramStatus, text: String, complaints: String) {
        let program = TestProgram()
        let status = await Program(in: program.surroundings).run(["outbox"] + arguments)
        return (status, program.written.text, program.complaints.text)
    }

    @Test func listShowsWaitingReportsAndDeadLetters() async throws {
        try await deadLetter("bad one")
        try fill("first", "second")
        let list = await run("list", box)
        #expect(list.status == .success)
        let rows = list.text.split(separator: "\n")
        #expect(rows.count == 5)
        #expect(rows[0].hasPrefix("report"))
        #expect(rows[1].hasPrefix("first ") && rows[1].contains("waits, due "))
        #expect(rows[3].hasPrefix("bad%20one ") && rows[3].hasSuffix("dead letter: refused-400"))
        #expect(rows[4] == "2 waiting, 1 dead letter")

        let object = try JSONSerialization.jsonObject(with: Data(await run("list", box, "--json").text.utf8))
        let reports = try #require(object as? [[String: Any]])
        #expect(reports.map { $0["id"] as? String } == ["first", "second", "bad one"])
        #expect(reports.map { $0["bytes"] as? Int } == [14, 15, 5])
        #expect(reports.map { $0["deadLetterReason"] as? String } == [nil, nil, "refused-400"])
    }

    @Test func showRedactsSecrets() async throws {
        try fill("first")
        let shown = await run("show", box, "first")
        #expect(shown.status == .success)
        #expect(shown.text.hasPrefix("POST https://reports.example/crash?q=redacted\nX-Kind: crash\n"))
        #expect(!shown.text.contains("s3cret"))
        #expect(await !run("show", box, "first", "--json").text.contains("s3cret"))
    }

    @Test func exportWritesReportBytes() async throws {
        try fill("first")
        #expect(await run("export", box, "firs", folder.path("bytes")).status == .success)
        #expect(try folder.text("bytes") == "bytes of first")
        let again = await run("export", box, "first", folder.path("bytes"))
        #expect(again.status == .failure)
        #expect(again.complaints.hasPrefix("apihealth: The report could not be exported"))
    }

    @Test func retryReturnsDeadLettersToOutbox() async throws {
        for id in ["bad one", "second", "third"] { try await deadLetter(id) }
        #expect(await run("retry", box, "bad%20one").text == "The report bad%20one is back in the outbox.\n")
        #expect(await run("list", box).text.hasSuffix("1 waiting, 2 dead letters\n"))
        #expect(await run("retry", box, "--all").text == "Back in the outbox: 2 reports.\n")
        #expect(await run("list", box).text.hasSuffix("3 waiting, 0 dead letters\n"))
        #expect(await run("retry", box, "--all").text == "Back in the outbox: 0 reports.\n")
    }

    @Test func purgeDeletesReports() async throws {
        try fill("first", "second", "third")
        #expect(await run("purge", box, "second").text == "The report second is gone.\n")
        #expect(await run("purge", box, "--all").text == "Gone: 2 reports.\n")
        #expect(await run("list", box).text == "The outbox is empty.\n")
        // What an outbox without reports may have left.
        let directory = URL(filePath: box)
        for name in ["discarded", "tmp-1"] { try Data().write(to: directory.appending(path: name)) }
        #expect(await run("list", box).text == "The outbox is empty.\n")
    }

    /// Nothing is purged that was not meant.
    @Test func beginningOfIdentifierMustBeLongEnoughAndOfOneReport() async throws {
        try fill("crash-1", "crash-2", "report")
        for beginning in ["crash", "cras", "rep"] {
            #expect(await run("purge", box, beginning).status == .unhealthy)
        }
        #expect(await run("list", box).text.hasSuffix("3 waiting, 0 dead letters\n"))
        #expect(await run("purge", box, "repo").text == "The report report is gone.\n")
        #expect(await run("purge", box, "crash-2").text == "The report crash-2 is gone.\n")
        #expect(await run("list", box).text.hasSuffix("1 waiting, 0 dead letters\n"))
    }

    @Test func foreignFolderIsRejectedAndUnchanged() async throws {
        try folder.write("mine", to: "file")
        let foreign = folder.url.path(percentEncoded: false)
        for arguments in [["list"], ["purge", "--all"], ["retry", "--all"], ["show", "first"]] {
            let program = TestProgram()
            let all = ["outbox", arguments[0], foreign] + arguments.dropFirst()
            #expect(await Program(in: program.surroundings).run(all) == .failure)
            #expect(program.complaints.text.contains(" is not an outbox; give the directory of a ReportOutbox"))
        }
        // The command asks for no report that is not listed, so the others are asked for without it.
        let inspector = try OutboxInspector(directory: folder.url)
        let id = try #require(ReportID("first"))
        let retried = #expect(throws: OutboxError.self) { try inspector.retry(id) }
        #expect(retried?.code == .unknownReport)
        let purged = #expect(throws: OutboxError.self) { try inspector.purge(id) }
        #expect(purged?.code == .unknownReport)
        #expect(try FileManager.default.contentsOfDirectory(atPath: foreign) == ["file"])
    }

    @Test func emptyFolderIsRejectedAndEmptyOutboxIsListed() async throws {
        let empty = folder.url.path(percentEncoded: false)
        #expect(await run("list", empty).status == .failure)
        try fill()
        #expect(await run("list", box).text == "The outbox is empty.\n")
    }

    @Test func missingReportOrFolderIsReported() async throws {
        try fill("first")
        let unknown = await run("show", box, "none\u{1B}")
        #expect(unknown.status == .unhealthy)
        #expect(
            unknown.complaints
                == "apihealth: there is no report “none\\u{1B}” in the outbox; see apihealth outbox list DIRECTORY\n")
        let missing = await run("list", folder.path("none"))
        #expect(missing.status == .failure)
        #expect(missing.complaints.hasPrefix("apihealth: The directory of the outbox cannot be opened"))
    }

    @Test func outboxInUseIsListedButNotPurged() async throws {
        try fill("first")
        let owner = try ReportOutbox(directory: URL(filePath: box), chain: HTTPLoader(), startsSending: false)
        #expect(await run("list", box).status == .success)
        #expect(await run("purge", box, "first").status == .failure)
        #expect(owner.count == 1)
    }
}
