import Foundation
import InfluxReporting
import LineProtocol
import Testing

@Suite(.timeLimit(.minutes(10))) struct TimestampDateTests {
    @Test(
        arguments: [
            (0, 0), (1.5, 1_500_000_000), (-1.5, -1_500_000_000), (-0.25, -250_000_000),
            (1_700_000_000, 1_700_000_000_000_000_000),
            (.infinity, .max), (-.infinity, .min), (.nan, .min), (1e300, .max), (-1e300, .min), (1e18, .max),
            (1e10, .max),
            (-1e10, .min), (9_223_372_036, 9_223_372_036_000_000_000),
        ] as [(Double, Int64)])
    func datesConvertToClampedTimestamps(_ seconds: Double, _ nanoseconds: Int64) {
        #expect(Timestamp(Date(timeIntervalSince1970: seconds)).nanoseconds == nanoseconds)
    }

    @Test func timestampRoundTripsThroughDate() {
        for time in [Timestamp.seconds(1_700_000_000), .milliseconds(-1_500), .nanoseconds(0), .earliest, .latest] {
            let back = Timestamp(Date(time))
            #expect(abs(back.nanoseconds.subtractingReportingOverflow(time.nanoseconds).partialValue) < 1_000_000)
        }
        #expect(Timestamp(Date.distantPast).nanoseconds == .min)
        #expect(Timestamp(Date.distantFuture).nanoseconds == .max)
    }

    @Test func localizedLineErrorHasPositionAndReason() {
        let error: any Error = LineDecodingError(line: 3, column: 12, code: .missingFieldValue)
        #expect(error.localizedDescription == "line 3, column 12: a field has no value")
    }
}
