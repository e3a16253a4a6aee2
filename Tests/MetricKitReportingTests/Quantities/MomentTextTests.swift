import LineProtocol
import Testing

@testable import MetricKitReporting

@Suite(.timeLimit(.minutes(10))) struct MomentTextTests {
    @Test(arguments: [
        ("2020-10-10 04:00:00 +0000", PayloadMoment.instant(.seconds(1_602_302_400))),
        ("2020-10-10 04:00:00 +0530", .instant(.seconds(1_602_302_400 - 19_800))),
        ("2020-10-10 04:00:00 -03:00", .instant(.seconds(1_602_302_400 + 10_800))),
        ("2020-10-10T04:00:00Z", .instant(.seconds(1_602_302_400))),
        ("2020-10-10T04:00:00.25Z", .instant(.milliseconds(1_602_302_400_250))),
        ("2020-10-10 04:00:00", .deviceTime(.seconds(1_602_302_400))),
        ("2020-10-10 4:00:00 AM +0000", .instant(.seconds(1_602_302_400))),
        ("2020-10-10 12:00:00 AM +0000", .instant(.seconds(1_602_288_000))),
        ("2020-10-10 4:00:00 PM +0000", .instant(.seconds(1_602_345_600))),
        ("٢٠٢٠-١٠-١٠ ٠٤:٠٠:٠٠ +0000", .instant(.seconds(1_602_302_400))),
        ("2020-10-10\u{202F}04:00:00 +0000", .instant(.seconds(1_602_302_400))),
    ])
    func unambiguousMomentIsRead(_ text: String, _ expected: PayloadMoment) {
        #expect(MomentText.moment(text) == expected)
    }

    @Test(arguments: [
        "2563-10-10 04:00:00 +0000", "0002-10-10 04:00:00 +0000", "1442-02-23 04:00:00 +0000",
        "2020-02-30 04:00:00 +0000",
        "2020-13-01 04:00:00 +0000", "2020-10-10 24:00:00 +0000", "2020-10-10 04:60:00 +0000", "2020-10-10", "04:00:00",
        "10/11/2020 04:00:00", "2020-10-10 04:00:00 CET", "2020-10-10 04:00:00 +00", "2020-10-10 13:00:00 PM +0000",
        "2020-10-10 04:00:00 +0000 x", "", "2020-10-10 4:00:00 م +0000",
    ])
    func ambiguousOrInvalidMomentGivesNil(_ text: String) {
        #expect(MomentText.moment(text) == nil)
    }

    @Test func secondsSince2001AreExact() throws {
        let number = try #require(DecimalNumber(literal: "804556800.5".utf8))
        #expect(MomentText.moment(secondsSince2001: number) == .instant(.milliseconds(1_782_864_000_500)))
        #expect(MomentText.moment(secondsSince2001: DecimalNumber(0)) == nil)
        #expect(MomentText.moment(secondsSince2001: DecimalNumber(1, exponent: 30)) == nil)
        #expect(MomentText.moment(secondsSince2001: DecimalNumber(-804_556_800)) == nil)
    }

    @Test func deviceTimeNeedsTimeZone() {
        let time = PayloadMoment.deviceTime(.seconds(1_602_302_400))
        #expect(time.instant == nil)
        #expect(time.instant(secondsFromGMT: 7_200) == .seconds(1_602_302_400 - 7_200))
        #expect(PayloadMoment.instant(.seconds(5)).instant(secondsFromGMT: 7_200) == .seconds(5))
        #expect(time.description == "2020-10-10 04:00:00 device time")
        #expect(PayloadMoment.instant(.milliseconds(1_602_302_400_999)).description == "2020-10-10 04:00:00 UTC")
        #expect(PayloadMoment.instant(.seconds(-1)).description == "1969-12-31 23:59:59 UTC")
        #expect(PayloadMoment.deviceTime(.nanoseconds(.min)).instant(secondsFromGMT: .max) == .nanoseconds(.min))
    }
}
