import Foundation
import LineProtocol
import Testing

@testable import MetricKitReporting

@Suite(.timeLimit(.minutes(10))) struct MetricPayloadTests {
    static let all = [
        Metrics.ios13, Metrics.ios14Chinese, Metrics.ios14Russian, Metrics.ios14Arabic, Metrics.ios16, Metrics.ios26,
    ]

    @Test(arguments: all + [Metrics.ios27, Metrics.ios27Sections])
    func everySystemGivesKnownValues(_ text: String) throws {
        let payload = try MetricPayload(text)
        #expect(payload.applicationLaunch?.timeToFirstDraw == Known.firstDraw)
        #expect(payload.applicationResponsiveness?.hangTime == Known.hangTime)
        #expect(rounded(payload.applicationLaunch?.average(), 2) == 1867.14)
        #expect(rounded(payload.applicationLaunch?.average(by: .midpoint), 2) == 1862.14)
        #expect(rounded(payload.applicationResponsiveness?.average(), 2) == 357.14)
        #expect(rounded(payload.applicationResponsiveness?.average(by: .midpoint), 2) == 242.86)
        #expect(payload.applicationTime?.foreground == .seconds(700))
        #expect(payload.memory?.peakBytes == 200_000_000)
        #expect(payload.data == Data(text.utf8))
    }

    @Test(arguments: all)
    func sectionsUpToIOS26AreRead(_ text: String) throws {
        let payload = try MetricPayload(text)
        #expect(payload.applicationLaunch?.resumeTime == Known.resume)
        #expect(payload.applicationTime?.background == .seconds(40))
        #expect(payload.applicationTime?.backgroundAudio == .seconds(30))
        #expect(payload.applicationTime?.backgroundLocation == .seconds(30))
        #expect(payload.cellularCondition?.bars?.mean(by: .end) == 2.3)
        #expect(payload.cpu?.time == .seconds(100))
        #expect(payload.gpu?.time == .seconds(20))
        #expect(payload.display?.pixelLuminance?.average == 50)
        #expect(payload.diskIO?.logicalWriteBytes == 1_300_000)
        #expect(payload.networkTransfer?.cellularDownloadBytes == 80_000_000)
        #expect(payload.networkTransfer?.cellularUploadBytes == 70_000_000)
        #expect(payload.networkTransfer?.wifiDownloadBytes == 60_000_000)
        #expect(payload.networkTransfer?.wifiUploadBytes == 50_000_000)
        let location = try #require(payload.location)
        #expect(location.bestForNavigation == .seconds(20) && location.best == .seconds(30))
        #expect(location.nearestTenMeters == .seconds(30) && location.hundredMeters == .seconds(30))
        #expect(location.kilometer == .seconds(20) && location.threeKilometers == .seconds(20))
        let signpost = try #require(payload.signposts.first)
        #expect(payload.signposts.count == 1)
        #expect(signpost.category == "Uploads" && signpost.name == "Compress" && signpost.count == 30)
        #expect(signpost.durations == Known.hangTime)
        #expect(signpost.cpuTime == .seconds(30))
        #expect(signpost.averageMemoryBytes == 100_000_000 && signpost.logicalWriteBytes == 600_000)
        #expect(payload.metaData?.deviceType?.hasPrefix("iPhone") == true)
    }

    @Test(arguments: all.dropLast() + [Metrics.ios27Sections])
    func knownPayloadsHaveNoLeftovers(_ text: String) throws {
        #expect(try MetricPayload(text).leftovers.isEmpty)
    }

    @Test(arguments: [Metrics.ios14Chinese, Metrics.ios14Russian, Metrics.ios14Arabic, Metrics.ios16, Metrics.ios26])
    func exitsAndHitchesAreRead(_ text: String) throws {
        let payload = try MetricPayload(text)
        #expect(payload.animation?.scrollHitchMillisecondsPerSecond == 12.5)
        #expect(payload.applicationExit?.foreground == [.normal: 12, .badAccess: 1, .abnormal: 0])
        #expect(payload.applicationExit?.background == [.memoryPressure: 7, .normal: 3, .cpuLimit: 0])
    }

    @Test func timeoutExitReasonsAreRead() throws {
        let counts = """
            {"cumulativeBackgroundURLSessionCompletionTimeoutExitCount":2,"cumulativeBackgroundFetchCompletionTimeoutExitCount":3,
            "cumulativeBackgroundTaskAssertionTimeoutExitCount":4}
            """
        let payload = try MetricPayload(#"{"applicationExitMetrics":{"backgroundExitData":\#(counts)}}"#)
        #expect(
            payload.applicationExit?.background == [
                .backgroundURLSessionCompletionTimeout: 2, .backgroundFetchCompletionTimeout: 3,
                .backgroundTaskTimeout: 4,
            ])
        #expect(payload.leftovers.isEmpty)
    }

    @Test func datesOfEverySystemAreRead() throws {
        #expect(try MetricPayload(Metrics.ios13).timeRange.end == .instant(.seconds(1_571_813_940)))
        #expect(try MetricPayload(Metrics.ios14Arabic).timeRange.begin == .instant(.seconds(1_602_302_400)))
        #expect(try MetricPayload(Metrics.ios16).timeRange.end == .deviceTime(.seconds(1_671_580_800)))
        #expect(try MetricPayload(Metrics.ios27).timeRange.end == .instant(.seconds(1_782_950_400)))
        #expect(try MetricPayload(Metrics.ios27Sections).timeRange.begin == .instant(.milliseconds(1_782_864_000_500)))
    }

    @Test func additionsOfIOS26AreRead() throws {
        let payload = try MetricPayload(Metrics.ios26)
        #expect(!payload.includesMultipleAppVersions)
        #expect(payload.animation?.hitchMillisecondsPerSecond == 10.25)
        #expect(payload.cpu?.instructions == 100_000)
        let launch = try MetricPayload(Metrics.ios16).applicationLaunch
        #expect(launch?.optimizedTimeToFirstDraw == Known.firstDraw && launch?.extendedLaunch == Known.firstDraw)
        let disk = try #require(payload.diskSpaceUsage)
        #expect(disk.binaryFileBytes == 90_000_000 && disk.binaryFileCount == 3)
        #expect(disk.dataFileBytes == 1_200_000 && disk.dataFileCount == 40)
        #expect(disk.cacheFolderBytes == 700_000 && disk.cloneBytes == 0)
        #expect(disk.usedBytes == 92_000_000 && disk.capacityBytes == 256_000_000_000)
        // Marks for unknown values.
        #expect(payload.memory?.suspendedBytes?.average == nil)
        #expect(payload.memory?.suspendedBytes?.standardDeviation == nil)
        #expect(payload.memory?.suspendedBytes?.sampleCount == 0)
        #expect(payload.metaData?.processIdentifier == nil)
        #expect(payload.metaData?.isTestFlightApp == false && payload.metaData?.bundleIdentifier == "com.example.app")
        #expect(payload.leftovers.map(\.path) == ["thermalMetrics"])
        #expect(payload.leftovers.first?.reason == .unknown)
        #expect(payload.leftovers.first?.json.description == #"{"seriousTime": "7 sec"}"#)
    }

    @Test func reportOfIOS27IsReadFromLongestEntry() throws {
        let payload = try MetricPayload(Metrics.ios27)
        #expect(payload.appVersion == "1.2" && !payload.includesMultipleAppVersions)
        #expect(payload.metaData?.appBuildVersion == "345" && payload.metaData?.isLowPowerModeEnabled == true)
        #expect(payload.applicationLaunch?.resumeTime == Known.resume)
        #expect(payload.cpu?.time == .seconds(100))
        #expect(payload.networkTransfer?.wifiUploadBytes == 50_000_000)
        let paths = payload.leftovers.map(\.path)
        #expect(
            paths == [
                "environment.hasExceededStateLimit", "intervalEntries.0", "intervalEntries.1.states",
                "intervalEntries.1.values.7", "stateEntries",
            ])
    }

    @Test func entriesOfEqualDurationBecomeLeftovers() throws {
        let entry = #"{"duration":{"value":1,"unit":"h"},"values":[{"gpuTime":{"value":5,"unit":"s"}}]}"#
        let payload = try MetricPayload(#"{"intervalEntries":[\#(entry),\#(entry)]}"#)
        #expect(payload.gpu == nil)
        #expect(payload.leftovers.map(\.path) == ["intervalEntries"])
        #expect(try MetricPayload(#"{"intervalEntries":[\#(entry)]}"#).gpu?.time == .seconds(5))
    }

    @Test func furtherMembersOfResultBecomeLeftovers() throws {
        let result = #"{"gpuTime":{"value":5,"unit":"s"},"cpuTime":{"value":1,"unit":"s"}}"#
        let payload = try MetricPayload(
            #"{"intervalEntries":[{"duration":{"value":1,"unit":"h"},"values":[\#(result)]}]}"#)
        #expect(payload.gpu?.time == .seconds(5) && payload.cpu == nil)
        #expect(payload.leftovers.map(\.path) == ["intervalEntries.0.values.0.cpuTime"])
    }

    @Test(arguments: [
        (
            #"{"states":["feed"],"duration":{"value":1,"unit":"h"},"values":[{"gpuTime":{"value":5,"unit":"s"}}]}"#,
            ["intervalEntries.0.states"]
        ),
        (
            #"{"duration":{"value":1,"unit":"h"},"values":{"gpuTime":{"value":5,"unit":"s"}}}"#,
            ["intervalEntries.0.values"]
        ),
        (
            #"{"values":[{"gpuTime":{"_0":{"value":5,"unit":"s"},"_1":2}}]}"#, ["intervalEntries.0.values.0.gpuTime._1"]
        ),
        ("7", ["intervalEntries"]),
    ])
    func membersOfEntryThatAreNotReadBecomeLeftovers(_ entry: String, _ paths: [String]) throws {
        let payload = try MetricPayload(#"{"intervalEntries":[\#(entry)]}"#)
        #expect(payload.leftovers.map(\.path) == paths)
    }

    @Test func reportOfIOS27OverSeveralVersionsIsNotCounted() throws {
        let payload = try MetricPayload(
            Metrics.ios27.replacing(
                "\"includesMultipleApplicationVersions\": false", with: "\"includesMultipleApplicationVersions\": true")
        )
        #expect(payload.includesMultipleAppVersions && payload.appVersion == "1.2")
        #expect(payload.points().isEmpty)
        #expect([payload].of(applicationVersion: "1.2").isEmpty)
    }

    @Test func rangeOfStartAndDurationIsRead() throws {
        let payload = try MetricPayload(
            #"{"appVersion":"1","timeRange":{"start":804556800,"duration":86400.5}}"#)
        #expect(payload.timeRange.begin == .instant(.seconds(1_782_864_000)))
        #expect(payload.timeRange.end == .instant(.milliseconds(1_782_950_400_500)))
        #expect(payload.leftovers.isEmpty)
    }

    /// The names are the app's own, and no evidence of how the device writes numbers.
    @Test(arguments: ["signpostName", "signpostCategory"]) func nameOfSignpostSaysNothingAboutNumbers(_ key: String)
        throws
    {
        func time(_ name: String) throws -> Duration? {
            try MetricPayload(
                #"{"appVersion":"1","gpuMetrics":{"cumulativeGPUTime":"1,234 ms"},"signpostMetrics":[{"\#(key)":"\#(name)"}]}"#
            ).gpu?.time
        }
        #expect(try time("a") == nil && time("1.5 s") == nil)
    }

    @Test func bucketKeysCanHaveAnyOrder() throws {
        let buckets = (0..<12).reversed().map {
            #""\#($0)":{"bucketStart":"\#($0) ms","bucketEnd":"\#($0 + 1) ms","bucketCount":\#($0 == 3 ? 0 : 1)}"#
        }
        let payload = try MetricPayload(
            #"{"applicationResponsivenessMetrics":{"histogrammedAppHangTime":{"histogramNumBuckets":12,"histogramValue":{\#(buckets.joined(separator: ","))}}}}"#
        )
        let hang = try #require(payload.applicationResponsiveness?.hangTime)
        #expect(hang.buckets.map(\.start) == [0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11].map { .milliseconds($0) })
    }

    /// Without a bucket that cannot be parsed, the mean would be different.
    @Test(arguments: [
        #"{"bucketStart":"0 ms","bucketEnd":"1,234 ms","bucketCount":1}"#,
        #"{"bucketStart":"0 ms","bucketEnd":"1 ms"}"#,
        #"{"bucketStart":"5 ms","bucketEnd":"1 ms","bucketCount":1}"#, "null", "[]",
        #"{"bucketStart":"0 ms","bucketEnd":"1 ms","bucketCount":-1}"#,
        #"{"bucketStart":"0 ms","bucketEnd":"1 ms","bucketCount":1.5}"#,
        #"{"bucketStart":"0 ms","bucketEnd":"1 kB","bucketCount":1}"#,
    ])
    func invalidBucketRejectsWholeHistogram(_ bucket: String) throws {
        let good = #"{"bucketStart":"1 ms","bucketEnd":"2 ms","bucketCount":3}"#
        let payload = try MetricPayload(
            #"{"applicationLaunchMetrics":{"histogrammedResumeTime":{"histogramValue":{"0":\#(good),"1":\#(bucket)}}}}"#
        )
        #expect(payload.applicationLaunch != nil && payload.applicationLaunch?.resumeTime == nil)
        #expect(payload.leftovers.map(\.path) == ["applicationLaunchMetrics.histogrammedResumeTime"])
        #expect(payload.leftovers.first?.reason == .notUnderstood)
    }

    @Test func payloadWithOnlyDiskSpaceIsRead() throws {
        let payload = try MetricPayload(
            """
            {"timeStampBegin":"2025-10-10 00:00:00","timeStampEnd":"2025-10-10 00:00:00","appVersion":"1.2",
            "diskSpaceUsageMetrics":{"totalDataFileSize":"5 kB"},"multipleAppVersions":"YES"}
            """)
        #expect(payload.timeRange.begin == payload.timeRange.end)
        #expect(payload.diskSpaceUsage?.dataFileBytes == 5_000)
        #expect(payload.includesMultipleAppVersions)
        #expect(payload.applicationLaunch == nil && payload.hangRate == nil)
        #expect(payload.points().isEmpty)
    }

    @Test(arguments: [
        ("\"NO\"", false), ("\"true\"", true), ("0", false), ("true", true), ("\"perhaps\"", true), ("null", false),
    ])
    func multipleVersionsFlagIsReadInEveryNotation(_ json: String, _ expected: Bool) throws {
        let payload = try MetricPayload(#"{"appVersion":"1","multipleAppVersions":\#(json)}"#)
        #expect(payload.includesMultipleAppVersions == expected)
        #expect(payload.leftovers.isEmpty == (json != "\"perhaps\""))
    }

    @Test func reportKindIsDetectedAndUnreadableDataIsKept() throws {
        for (text, code) in [
            ("", PayloadError.Code.notJSON), ("{\"appVersion\":", .notJSON), ("[]", .notAPayload), ("{}", .notAPayload),
            (#"{"a":1}"#, .notAPayload), ("5", .notAPayload),
        ] {
            let data = Data(text.utf8)
            guard case .unreadable(let kept, let error) = MetricKitReport(data) else {
                Issue.record("\(text) is taken for a payload")
                continue
            }
            #expect(kept == data && error.code == code)
            #expect(MetricKitReport(data).data == data)
        }
        let error = #expect(throws: PayloadError.self) { try MetricPayload(Diagnostics.ios14) }
        #expect(error?.code == .notAPayload)
        guard case .diagnostics(let payload) = MetricKitReport(Data(Diagnostics.ios14.utf8)) else {
            Issue.record("diagnostics are not taken for such")
            return
        }
        #expect(payload.diagnostics.count == 4)
        guard case .metrics = MetricKitReport(Data(Metrics.ios13.utf8)) else {
            Issue.record("metrics are not taken for such")
            return
        }
    }
}
