import Foundation
import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

/// Settings from a server, and loaders that follow them.
@Suite(.timeLimit(.minutes(10))) struct RemoteSettingsTests {
    private let throttle = Throttle(maximumNumberOfRequests: 6)
    private let limit = RateLimit(requests: 10, per: .seconds(1), burst: 5)
    private let timers = ManualTimers()
    private let server = Server()
    private let log = EventLog()

    /// A server of one document, with a tag for each version.
    private final class Server: Sendable {
        struct State: Sendable {
            var answer = ScriptedTerminal.Answer.success(.notFound)
            /// The tag of the document, or nil for a server that knows none.
            var tag: String?
            var tagsAsked: [String?] = []
        }
        let state = Locked(State())

        func publish(_ document: String, tag: String? = nil) {
            answer(.success(headers: tag.map { ["ETag": $0] } ?? [:], body: document))
            state.withLock { $0.tag = tag }
        }

        func answer(_ answer: ScriptedTerminal.Answer) {
            state.withLock { ($0.answer, $0.tag) = (answer, nil) }
        }

        var terminal: ScriptedTerminal {
            ScriptedTerminal { [state] request in
                state.withLock { state in
                    let asked = request.headers["If-None-Match"]
                    state.tagsAsked.append(asked)
                    return asked != nil && asked == state.tag ? .success(.notModified) : state.answer
                }
            }
        }
    }

    private func settings(
        over chain: HTTPLoader? = nil, keys: [RemoteSettings.Key]? = nil, file: URL? = nil,
        more: [String: RemoteSettings.Target] = [:]
    ) -> RemoteSettings {
        RemoteSettings(
            url: URL(string: "https://a.test/app.json")!, chain: chain ?? server.terminal,
            targets: ["api": .throttle(throttle), "search": .rateLimit(limit)].merging(more) { $1 }, keys: keys,
            file: file, timers: timers, random: RandomSource(seed: 1), onEvent: { [log] in log.note("\($0)") })
    }

    // MARK: What is good

    @Test func documentIsAppliedAndLeavesAgain() async {
        throttle.hostLimits = ["slow.test": 2]
        let settings = settings()
        server.publish(
            """
            {"revision": 3, "loaders": {
                "api": {"maximumNumberOfRequests": 1, "perHost": 4, "hostLimits": {"a.test": 0}, "maximumWaiting": 7,
                        "queueTimeout": 2.5, "minimumPriority": "high"},
                "search": {"rates": [{"requests": 5, "seconds": 1, "burst": 2}, {"cost": 9e4, "seconds": 60}]}}}
            """)
        await settings.refresh()
        #expect(await settings.revision == 3)
        #expect(throttle.maximumNumberOfRequests == 1 && throttle.perHost == 4 && throttle.hostLimits == ["a.test": 0])
        #expect(throttle.maximumWaiting == 7 && throttle.queueTimeout == .seconds(2.5))
        #expect(throttle.minimumPriority == .high)
        #expect(
            limit.rates == [.init(requests: 5, per: .seconds(1), burst: 2), .init(cost: 90_000, per: .seconds(60))])

        server.publish(#"{"revision": 4, "loaders": {"api": {"maximumNumberOfRequests": 2, "perHost": null}}}"#)
        await settings.refresh()
        #expect(throttle.maximumNumberOfRequests == 2 && throttle.perHost == nil)
        #expect(throttle.hostLimits == ["slow.test": 2] && throttle.maximumWaiting == nil)
        #expect(throttle.queueTimeout == nil && throttle.minimumPriority == .low)
        #expect(limit.rates == [.init(requests: 10, per: .seconds(1), burst: 5)])

        server.publish(#"{"revision": 5, "loaders": {}}"#)
        await settings.refresh()
        #expect(throttle.maximumNumberOfRequests == 6)
        #expect(
            log.events == [
                "Revision 3 has been applied", "Revision 4 has been applied", "Revision 5 has been applied",
            ])
    }

    @Test func settingOfProgramIsLeftAlone() async {
        let settings = settings()
        throttle.maximumNumberOfRequests = 3
        server.publish(#"{"revision": 1, "loaders": {"api": {"perHost": 2}}}"#)
        await settings.refresh()
        throttle.maximumNumberOfRequests = 4
        server.publish(#"{"revision": 2, "loaders": {"api": {"maximumNumberOfRequests": 1}}}"#)
        await settings.refresh()
        #expect(throttle.maximumNumberOfRequests == 1)
        server.publish(#"{"revision": 3, "loaders": {}}"#)
        await settings.refresh()
        #expect(throttle.maximumNumberOfRequests == 4 && throttle.perHost == nil)
    }

    @Test func changeOfProgramComesIntoForceAfterDocument() async {
        let settings = settings()
        server.publish(#"{"revision": 1, "loaders": {"api": {"maximumNumberOfRequests": 0}}}"#, tag: "\"1\"")
        await settings.refresh()
        throttle.maximumNumberOfRequests = 2
        await settings.refresh()
        #expect(throttle.maximumNumberOfRequests == 0)
        server.publish(#"{"revision": 2, "loaders": {}}"#)
        await settings.refresh()
        #expect(throttle.maximumNumberOfRequests == 2)
    }

    /// Some loaders round what they are given; that is no change by the program.
    @Test(arguments: ["2.3", "0.1", "0.0000000001", "1e9", "1e-300"])
    func roundedValueIsNoChangeByProgram(_ seconds: String) async {
        let settings = settings()
        server.publish(
            #"{"revision": 1, "loaders": {"api": {"queueTimeout": \#(seconds), "hostLimits": {"A.test:443": 1}}}}"#)
        for _ in 1...3 { await settings.refresh() }
        #expect(throttle.queueTimeout != nil && throttle.hostLimits.count == 1)
        server.publish(#"{"revision": 2, "loaders": {}}"#)
        await settings.refresh()
        #expect(throttle.queueTimeout == nil && throttle.hostLimits.isEmpty)
    }

    @Test func ownValuesOutliveSettings() async {
        server.publish(#"{"revision": 1, "loaders": {"api": {"maximumNumberOfRequests": 0}}}"#)
        for _ in 1...2 {
            let settings = settings()
            await settings.refresh()
            #expect(throttle.maximumNumberOfRequests == 0)
        }
        let third = settings()
        await third.refresh()
        server.publish(#"{"revision": 2, "loaders": {}}"#)
        await third.refresh()
        #expect(throttle.maximumNumberOfRequests == 6)
    }

    @Test func stoppedChainStillLoadsSettings() async {
        let settings = settings(over: throttle --> Deduplicate() --> server.terminal)
        server.publish(
            #"{"revision": 1, "loaders": {"api": {"maximumNumberOfRequests": 0, "minimumPriority": "high"}}}"#)
        await settings.refresh()
        #expect(throttle.maximumNumberOfRequests == 0)
        server.publish(#"{"revision": 2, "loaders": {}}"#)
        await settings.refresh()
        #expect(throttle.maximumNumberOfRequests == 6)
    }

    @Test func unknownNamesAreIgnoredAndTold() async {
        let settings = settings()
        server.publish(#"{"note": "x", "revision": 1, "loaders": {"apl": 7, "api": {"perHosts": 1, "perHost": 2}}}"#)
        await settings.refresh()
        #expect(throttle.perHost == 2)
        #expect(log.events == ["Revision 1 has been applied, without loaders.api.perHosts, loaders.apl, note"])
    }

    @Test func namesOfServerCannotForgeLineOfLog() async {
        let settings = settings()
        let names = (1...30).map { "\"\($0)\\n[error]\": 1" }.joined(separator: ", ")
        server.publish(#"{"revision": 1, "loaders": {"# + names + "}}")
        await settings.refresh()
        server.publish(#"{"revision": 2, "loaders": {"api": {"hostLimits": {"a\n[error] down": -1}}}}"#)
        await settings.refresh()
        #expect(
            log.events.count == 2 && log.events.allSatisfy { !$0.contains("\n") && $0.count < 400 }, "\(log.events)")
        #expect(log.events[0].hasSuffix(" and 20 more"))
    }

    @Test func settingsOfOnesOwnAreChecked() async {
        struct Level: Decodable { var level: Int }
        let levels = Locked<[Int?]>([])
        let settings = settings(more: [
            "log": .init(Level.self) { settings in levels.withLock { $0.append(settings?.level) } }
        ])
        server.publish(#"{"revision": 1, "loaders": {"log": {"level": 3}}}"#)
        await settings.refresh()
        server.publish(#"{"revision": 2, "loaders": {"log": {"level": "x"}, "api": {"perHost": 1}}}"#)
        await settings.refresh()
        #expect(throttle.perHost == nil)
        server.publish(#"{"revision": 3, "loaders": {}}"#)
        await settings.refresh()
        server.publish(#"{"revision": 4, "loaders": {}}"#)
        await settings.refresh()
        #expect(levels.withLock(\.self) == [3, nil])
        #expect(log.events[1].hasPrefix("The last settings hold. loaders.log.level: "), "\(log.events)")
    }

    // MARK: What is bad

    @Test(arguments: [
        ("", "The given data was not valid JSON"), ("<html>", "The given data was not valid JSON"),
        (#"{"revision": 8, "loaders": {"api": {"perHo"#, "The given data was not valid JSON"),
        (String(repeating: "[", count: 60_000), "The given data was not valid JSON"),
        ("[]", ""), ("7", ""), ("null", ""), ("{}", "revision: it is missing"),
        (#"{"revision": 8}"#, "loaders"), (#"{"revision": 8, "loaders": []}"#, "loaders"),
        (#"{"loaders": {}}"#, "revision: it is missing"),
        (#"{"revision": 8.5, "loaders": {}}"#, "revision: 8.5 is not a whole number from 0 on"),
        (#"{"revision": -8, "loaders": {}}"#, "revision: -8.0 is not a whole number from 0 on"),
        (#"{"revision": 1e300, "loaders": {}}"#, "revision: 1e+300 is not a whole number from 0 on"),
        (#"{"revision": "8", "loaders": {}}"#, "revision: "),
        (#"{"revision": 4, "loaders": {}}"#, "Revision 4 is older than 5, which is in use"),
    ])
    func documentThatIsWrongChangesNothing(_ document: String, _ reason: String) async {
        let settings = settings()
        server.publish(#"{"revision": 5, "loaders": {"api": {"maximumNumberOfRequests": 1}}}"#)
        await settings.refresh()
        server.publish(document)
        for _ in 1...3 { await settings.refresh() }
        #expect(throttle.maximumNumberOfRequests == 1)
        #expect(await settings.revision == 5)
        #expect(log.events.count == 2)
        #expect(log.events.last?.hasPrefix("The last settings hold. \(reason)") ?? false, "\(log.events)")
    }

    @Test(arguments: [
        (#""maximumNumberOfRequests": -1"#, "maximumNumberOfRequests: -1.0 is not a whole number from 0 on"),
        (#""perHost": 1.5"#, "perHost: 1.5 is not a whole number from 0 on"), (#""perHost": true"#, "perHost: "),
        (#""hostLimits": {"a.test": -3}"#, "hostLimits.a.test: -3.0 is not a whole number from 0 on"),
        (#""hostLimits": 3"#, "hostLimits: "), (#""maximumWaiting": 1e30"#, "maximumWaiting: 1e+30 is not"),
        (#""queueTimeout": -0.5"#, "queueTimeout: -0.5 is no number of seconds from 0 to a billion"),
        (#""queueTimeout": 1e300"#, "queueTimeout: 1e+300 is no number of seconds from 0 to a billion"),
        (#""minimumPriority": "urgent""#, "minimumPriority: \"urgent\" is none of \"low\", \"normal\", \"high\""),
        (#""until": "tomorrow""#, "until: \"tomorrow\" is no instant such as 2026-12-24T18:00:00Z"),
        (#""until": 7"#, "until: "),
    ])
    func badValueOfThrottleKeepsWholeDocumentOut(_ value: String, _ reason: String) async {
        let settings = settings()
        server.publish(
            #"{"revision": 1, "loaders": {"search": {"rates": [{"requests": 1, "seconds": 1}]}, "api": {"# + value
                + "}}}")
        await settings.refresh()
        #expect(limit.rates == [.init(requests: 10, per: .seconds(1), burst: 5)])
        #expect(await settings.revision == nil)
        #expect(log.events.count == 1)
        #expect(log.events[0].hasPrefix("The last settings hold. loaders.api.\(reason)"), "\(log.events)")
    }

    @Test(arguments: [
        ("{}", "rates: "), ("[]", "rates: there is none"),
        (#"[{"requests": 5}]"#, "rates.0.seconds: a rate needs a period"),
        (#"[{"requests": 5, "seconds": 0}]"#, "rates.0.seconds: a rate needs a period"),
        (#"[{"requests": 0, "seconds": 1}]"#, "rates.0.requests: 0 is less than 1"),
        (#"[{"requests": 5, "seconds": 1}, {"seconds": 1}]"#, "rates.1.requests: a rate has either"),
        (#"[{"requests": 5, "cost": 5, "seconds": 1}]"#, "rates.0.requests: a rate has either"),
        (#"[{"requests": 5, "seconds": 1, "brust": 9}]"#, "rates.0.brust: a rate has nothing of this name"),
        (#"[{"requests": 5, "seconds": 1, "burst": 0}]"#, "rates.0.burst: 0 is less than 1"),
    ])
    func badRateKeepsWholeDocumentOut(_ rates: String, _ reason: String) async {
        let settings = settings()
        server.publish(#"{"revision": 1, "loaders": {"api": {"perHost": 1}, "search": {"rates": \#(rates)}}}"#)
        await settings.refresh()
        #expect(throttle.perHost == nil)
        #expect(log.events.count == 1)
        #expect(log.events[0].hasPrefix("The last settings hold. loaders.search.\(reason)"), "\(log.events)")
    }

    @Test func damagedDocumentsNeitherTrapNorApplyInPart() async {
        let settings = settings()
        let whole = Array(
            """
            {"revision": 1, "loaders": {"api": {"maximumNumberOfRequests": 0, "perHost": 0, "hostLimits": {"a": 0},
            "maximumWaiting": 0, "queueTimeout": 0, "minimumPriority": "high", "until": "2999-12-24T18:00:00Z"},
            "search": {"rates": [{"requests": 1, "seconds": 1e9, "burst": 2}]}}}
            """.utf8)
        let random = RandomSource(seed: 7)
        let pieces = ["{", "}", "[", "]", "\"", ":", ",", "-", "e99", "null", "1e309", "\\u0000", "\u{FF}", "0", "."]
        for _ in 0..<testSize(usually: 10_000) {
            var bytes = whole
            for _ in 0...random.next() % 3 {
                let place = Int(random.next() % UInt64(bytes.count))
                switch random.next() % 3 {
                case 0: bytes.removeLast(bytes.count - place)
                case 1: bytes[place] = UInt8(truncatingIfNeeded: random.next())
                default: bytes.insert(contentsOf: pieces[Int(random.next() % UInt64(pieces.count))].utf8, at: place)
                }
                if bytes.isEmpty { break }
            }
            let before = (throttle.maximumNumberOfRequests, throttle.perHost, throttle.minimumPriority, limit.rates)
            let count = log.events.count
            server.publish(String(decoding: bytes, as: UTF8.self))
            await settings.refresh()
            let isApplied = log.events.dropFirst(count).contains { $0.contains("applied") }
            let after = (throttle.maximumNumberOfRequests, throttle.perHost, throttle.minimumPriority, limit.rates)
            if !isApplied, before != after { return #expect(Bool(false), "\(String(decoding: bytes, as: UTF8.self))") }
            // A damaged revision may be so high that nothing else is newer.
            server.publish(#"{"revision": \#(await settings.revision ?? 0), "loaders": {}}"#)
            await settings.refresh()
        }
        #expect(log.events.count > 1)
        #expect(throttle.maximumNumberOfRequests == 6 && throttle.minimumPriority == .low)
    }

    @Test(arguments: [
        (ScriptedTerminal.Answer.success(.notFound), "The server has answered 404"),
        (.success(.serviceUnavailable, headers: ["Retry-After": "5"]), "The server has answered 503"),
        (.success(.noContent), "The given data was not valid JSON"),
        (.failure(.cannotConnect), "The document could not be loaded: "),
        (.failure(.cancelled), "The document could not be loaded: "),
    ])
    func lastSettingsHoldWithoutDocument(_ answer: ScriptedTerminal.Answer, _ reason: String) async {
        let settings = settings()
        let document = #"{"revision": 5, "loaders": {"api": {"maximumNumberOfRequests": 1}}}"#
        server.publish(document, tag: "\"5\"")
        await settings.refresh()
        for _ in 1...2 {
            server.answer(answer)
            for _ in 1...3 { await settings.refresh() }
            server.publish(document, tag: "\"5\"")
            await settings.refresh()
        }
        #expect(throttle.maximumNumberOfRequests == 1)
        #expect(log.events.count == 3, "\(log.events)")
        #expect(log.events[1].hasPrefix("The last settings hold. \(reason)"), "\(log.events)")
    }

    @Test func manyReasonsAreNotAllTold() async {
        let settings = settings()
        for number in 1...100 {
            server.publish(#"{"revision": -\#(number), "loaders": {}}"#)
            await settings.refresh()
        }
        #expect(log.events.count == 16)
    }

    @Test(arguments: ["*", "\"", "\"a\"b\"", "\"" + String(repeating: "x", count: 20_000) + "\"", "unquoted"])
    func tagThatIsNoneIsNotSentBack(_ tag: String) async {
        let settings = settings()
        server.publish(#"{"revision": 1, "loaders": {"api": {"perHost": 1}}}"#, tag: tag)
        await settings.refresh()
        server.publish(#"{"revision": 2, "loaders": {"api": {"perHost": 2}}}"#, tag: tag)
        await settings.refresh()
        #expect(throttle.perHost == 2)
        #expect(server.state.withLock(\.tagsAsked) == [nil, nil])
    }

    @Test func documentThatWasCutIsLoadedAgainUnderItsTag() async {
        let settings = settings()
        server.publish(#"{"revision": 1, "loaders": {"api": {"perH"#, tag: "\"1\"")
        await settings.refresh()
        server.publish(#"{"revision": 1, "loaders": {"api": {"perHost": 1}}}"#, tag: "\"1\"")
        for _ in 1...3 { await settings.refresh() }
        #expect(throttle.perHost == 1)
        #expect(server.state.withLock(\.tagsAsked) == [nil, nil, "\"1\"", "\"1\""])
    }

    // MARK: Time

    @Test func settingsEndByThemselves() async throws {
        timers.setDate(try Date("2026-12-24T17:59:00Z", strategy: .iso8601))
        let settings = settings()
        server.publish(
            #"{"revision": 1, "loaders": {"api": {"perHost": 1, "until": "2026-12-24T18:30:00Z"}, "#
                + #""search": {"rates": [{"requests": 1, "seconds": 1}], "until": "2026-12-24T17:58:00Z"}}}"#,
            tag: "\"1\"")
        let running = Task { await settings.run() }
        await sleeps(settings)
        #expect(throttle.perHost == 1)
        // Its time was over before it came.
        #expect(limit.rates == [.init(requests: 10, per: .seconds(1), burst: 5)])
        let end = try Date("2026-12-24T18:30:00Z", strategy: .iso8601)
        while throttle.perHost == 1, timers.date < end + 3_600 {
            timers.advanceToNext()
            await sleeps(settings)
        }
        #expect(throttle.perHost == nil)
        // A random part of the interval later.
        #expect(timers.date > end && timers.date < end + 60)
        #expect(log.events == ["Revision 1 has been applied", "The time of the settings of api is over"])

        // The clock was wrong, and is set back.
        timers.setDate(end - 3_600)
        await settings.refresh()
        #expect(throttle.perHost == 1)
        running.cancel()
        await running.value
        #expect(timers.pendingCount == 0)
    }

    @Test func settingsEndWithoutRunToo() async throws {
        timers.setDate(try Date("2026-12-24T17:59:00Z", strategy: .iso8601))
        let settings = settings()
        server.publish(#"{"revision": 1, "loaders": {"api": {"perHost": 1, "until": "2026-12-24T19:30:00+01:00"}}}"#)
        await settings.refresh()
        #expect(throttle.perHost == 1)
        server.answer(.failure(.cannotConnect))
        timers.advance(by: .seconds(32 * 60))
        await settings.refresh()
        #expect(throttle.perHost == nil)
    }

    /// Waits until settings that run have asked, and wait for their next turn.
    private func sleeps(_ settings: RemoteSettings) async {
        while true {
            await timers.waitForPending(count: 1)
            // A timer of the request itself, perhaps.
            if await !settings.isAsking, timers.pendingCount == 1 { return }
            await Task.yield()
        }
    }

    /// Lets the time pass until the next request.
    private func passDelay(of settings: RemoteSettings) async -> Duration {
        await sleeps(settings)
        let (before, count) = (timers.now, server.state.withLock(\.tagsAsked.count))
        while server.state.withLock(\.tagsAsked.count) == count {
            timers.advanceToNext()
            await sleeps(settings)
        }
        return before.duration(to: timers.now)
    }

    @Test func settingsAreAskedForOncePerInterval() async {
        let settings = settings()
        server.publish(#"{"revision": 1, "loaders": {}}"#, tag: "\"1\"")
        let running = Task { await settings.run() }
        for number in 1...4 {
            let delay = await passDelay(of: settings)
            #expect(delay >= .seconds(60) && delay <= .seconds(66), "\(delay)")
            #expect(server.state.withLock(\.tagsAsked.count) == number + 1)
        }
        running.cancel()
        await running.value
        #expect(log.events == ["Revision 1 has been applied"])
    }

    @Test(arguments: [ScriptedTerminal.Answer.success(.internalServerError), .failure(.cannotConnect)])
    func failuresMakeDelayLonger(_ answer: ScriptedTerminal.Answer) async {
        let settings = settings()
        server.answer(answer)
        let running = Task { await settings.run() }
        var delays: [Duration] = []
        for _ in 1...8 { delays.append(await passDelay(of: settings)) }
        running.cancel()
        await running.value
        #expect(delays.allSatisfy { $0 >= .seconds(60) && $0 <= .seconds(300) })
        #expect(delays.suffix(3).allSatisfy { $0 > .seconds(140) }, "\(delays)")
    }

    @Test func slowServerDoesNotKeepSettingsForever() async {
        let terminal = ScriptedTerminal()
        let settings = settings(over: terminal)
        for text in ["first", "second"] {
            let asking = Task { await settings.refresh() }
            _ = await terminal.next()
            timers.advance(by: .seconds(31))
            await asking.value
            #expect(log.events.count == 1, "\(text): \(log.events)")
        }
        #expect(log.events[0].hasPrefix("The last settings hold. The document could not be loaded: "))
        #expect(timers.pendingCount == 0)
    }

    // MARK: Relaunches

    @Test func lastGoodSettingsHoldAfterRelaunch() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "settings-\(UUID().uuidString)/deep")
        defer { try? FileManager.default.removeItem(at: folder.deletingLastPathComponent()) }
        let file = folder.appending(path: "settings.json")
        let first = settings(file: file)
        server.publish(#"{"revision": 5, "loaders": {"api": {"maximumNumberOfRequests": 0}}}"#)
        await first.refresh()
        server.publish("rubbish")
        await first.refresh()

        throttle.maximumNumberOfRequests = 6
        let second = settings(file: file)
        #expect(throttle.maximumNumberOfRequests == 0)
        #expect(await second.revision == 5)
        server.publish(#"{"revision": 4, "loaders": {}}"#)
        await second.refresh()
        #expect(throttle.maximumNumberOfRequests == 0)
        // The same document as that of the file is not told again.
        let count = log.events.count
        server.publish(#"{"revision": 5, "loaders": {"api": {"maximumNumberOfRequests": 0}}}"#)
        await second.refresh()
        #expect(log.events.count == count)
        server.publish(#"{"revision": 6, "loaders": {}}"#)
        await second.refresh()
        #expect(throttle.maximumNumberOfRequests == 6)

        try Data("half a docu".utf8).write(to: file)
        let third = settings(file: file)
        #expect(await third.revision == nil)
        #expect(
            log.events.last?.hasPrefix("The last settings hold. The remembered document is not used: ") ?? false,
            "\(log.events)")
    }

    @Test func fileIsReadableOnlyByItsUser() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "settings-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "settings.json")
        let settings = settings(file: file)
        server.publish(#"{"revision": 1, "loaders": {}}"#)
        await settings.refresh()
        for (place, mode) in [(folder, 0o700), (file, 0o600)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: place.path(percentEncoded: false))
            #expect(attributes[.posixPermissions].map { "\($0)" } == "\(mode)", "\(place)")
        }
    }

    @Test func fileThatCannotBeWrittenIsTold() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "settings-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let settings = settings(file: file.appending(path: "inner.json"))
        server.publish(#"{"revision": 1, "loaders": {"api": {"perHost": 1}}}"#)
        try? FileManager.default.removeItem(at: file)
        try Data().write(to: file)
        for _ in 1...3 { await settings.refresh() }
        #expect(throttle.perHost == 1)
        #expect(log.events[1].hasPrefix("The settings will be forgotten. "), "\(log.events)")
        // As soon as there is room, they are kept after all.
        try FileManager.default.removeItem(at: file)
        await settings.refresh()
        throttle.perHost = nil
        _ = self.settings(file: file.appending(path: "inner.json"))
        #expect(throttle.perHost == 1)
    }

    /// A directory in its place stands for a file that cannot be read yet, as before a device is unlocked for the first time.
    @Test func fileThatCannotBeReadYetIsNotReplaced() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "settings-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "settings.json")
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
        let settings = settings(file: file)
        #expect(log.events.count == 1)
        #expect(
            log.events[0].hasPrefix("The last settings hold. The remembered document is not used: "), "\(log.events)")
        server.publish(#"{"revision": 4, "loaders": {"api": {"perHost": 4}}}"#)
        await settings.refresh()
        #expect(throttle.perHost == 4)
        #expect(
            log.events.dropFirst() == [
                "Revision 4 has been applied", "The settings will be forgotten. The file could not be read",
            ])
        // It is told once.
        await settings.refresh()
        #expect(log.events.count == 3)

        // As soon as it can be read, it is what holds, and what a server must not fall behind.
        try FileManager.default.removeItem(at: file)
        let remembered = Data(#"{"revision": 6, "loaders": {"api": {"perHost": 6}}}"#.utf8)
        try remembered.write(to: file)
        await settings.refresh()
        #expect(await settings.revision == 6)
        #expect(throttle.perHost == 6)
        #expect(try Data(contentsOf: file) == remembered)
        server.publish(#"{"revision": 7, "loaders": {"api": {"perHost": 7}}}"#)
        await settings.refresh()
        throttle.perHost = nil
        _ = self.settings(file: file)
        #expect(throttle.perHost == 7)
    }

    // MARK: Signatures

    private static let key = Array("a key of thirty-two random bytes".utf8)

    private func signed(
        _ document: String, by key: [UInt8] = key, header: String = #"{"alg":"HS256","typ":"JWT"}"#
    ) -> String {
        func base64(_ bytes: some Sequence<UInt8>) -> String {
            Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
                "=", with: "")
        }
        let text = base64(header.utf8) + "." + base64(document.utf8)
        return text + "." + base64(SHA256.code(of: text.utf8, key: key))
    }

    @Test func signedDocumentIsApplied() async {
        let old = RemoteSettings.Key.hmacSHA256("an older key".utf8)
        let settings = settings(keys: [old, .hmacSHA256(Self.key)])
        server.publish(signed(#"{"revision": 1, "loaders": {"api": {"perHost": 1}}}"#) + "\n")
        await settings.refresh()
        #expect(throttle.perHost == 1)
        server.publish(signed(#"{"revision": 2, "loaders": {"api": {"perHost": 2}}}"#, by: Array("an older key".utf8)))
        await settings.refresh()
        #expect(throttle.perHost == 2)
    }

    @Test(arguments: [[], [RemoteSettings.Key.hmacSHA256([])]])
    func emptyKeysAcceptNothing(_ keys: [RemoteSettings.Key]) async {
        let settings = settings(keys: keys)
        let document = #"{"revision": 1, "loaders": {"api": {"perHost": 1}}}"#
        for text in [document, signed(document), signed(document, by: [])] {
            server.publish(text)
            await settings.refresh()
        }
        #expect(throttle.perHost == nil && log.events.count == 2, "\(log.events)")
    }

    @Test func documentWithoutGoodSignatureChangesNothing() async {
        let settings = settings(keys: [.hmacSHA256(Self.key)])
        let document = #"{"revision": 1, "loaders": {"api": {"perHost": 1}}}"#
        let good = signed(document)
        let parts = good.split(separator: ".")
        let other = signed(#"{"revision": 2, "loaders": {}}"#).split(separator: ".")
        let (wrong, unsigned) = ("fits to none of the keys", "is not signed")
        for (text, reason) in [
            (document, unsigned), ("..", unsigned), ("a.b", unsigned), (good + ".x", unsigned),
            ("\(parts[0]).\(parts[1])", unsigned), ("\(parts[0]).\(parts[1]).", wrong),
            ("\(parts[0])=.\(parts[1]).\(parts[2])", unsigned),
            (signed(document, by: Array("another key".utf8)), wrong), ("\(parts[0]).\(other[1]).\(parts[2])", wrong),
            ("\(parts[0]).\(parts[1]).\(parts[2].dropLast(2))", wrong),
            (signed(document, header: #"{"alg":"none"}"#), wrong),
            (signed(document, header: #"{"alg":"EdDSA"}"#), wrong),
            (signed(document, header: #"{"alg":"HS256","crit":["b64"],"b64":false}"#), "has extensions"),
            (signed(document, header: "{}"), unsigned),
        ] {
            server.publish(text)
            let told = log.events.count
            await settings.refresh()
            #expect(throttle.perHost == nil && log.events.contains { $0.contains(reason) }, "\(text): \(log.events)")
            #expect(log.events.dropFirst(told).allSatisfy { $0.contains(reason) }, "\(text): \(log.events)")
        }
        #expect(log.events.count == 3)
        server.publish(good)
        await settings.refresh()
        #expect(throttle.perHost == 1)
    }

    @Test func rememberedDocumentNeedsItsSignature() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "settings-\(UUID().uuidString)/signed.json")
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        let first = settings(keys: [.hmacSHA256(Self.key)], file: file)
        server.publish(signed(#"{"revision": 1, "loaders": {"api": {"perHost": 1}}}"#))
        await first.refresh()
        throttle.perHost = nil
        _ = settings(keys: [.hmacSHA256("another".utf8)], file: file)
        #expect(throttle.perHost == nil)
        _ = settings(keys: [.hmacSHA256(Self.key)], file: file)
        #expect(throttle.perHost == 1)
    }

    /// The example of RFC 7515, A.1.
    @Test func signatureOfStandardIsValid() throws {
        let key = Data(
            base64Encoded: "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ+EstJQLr/T+1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow==")
        let text =
            "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFt"
            + "cGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
        let content = try SignedText(Data(text.utf8)).content(signedBy: [.hmacSHA256(try #require(key))])
        #expect(
            String(decoding: content, as: UTF8.self)
                == "{\"iss\":\"joe\",\r\n \"exp\":1300819380,\r\n \"http://example.com/is_root\":true}")
    }

    @Test func keyOfAnotherLibraryIsAsked() async {
        let settings = settings(keys: [
            RemoteSettings.Key(algorithm: "ES256") { signature, message in
                signature == Data(SHA256.code(of: message, key: Self.key))
            }
        ])
        server.publish(signed(#"{"revision": 1, "loaders": {"api": {"perHost": 1}}}"#))
        await settings.refresh()
        #expect(throttle.perHost == nil)
        server.publish(signed(#"{"revision": 1, "loaders": {"api": {"perHost": 1}}}"#, header: #"{"alg":"ES256"}"#))
        await settings.refresh()
        #expect(throttle.perHost == 1)
    }
}
