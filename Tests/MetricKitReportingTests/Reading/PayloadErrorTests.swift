import Foundation
import MetricKitReporting
import Testing

@Suite(.timeLimit(.minutes(10))) struct PayloadErrorTests {
    @Test(arguments: [
        ("nonsense", PayloadError.Code.notJSON, "Pass the complete bytes"),
        ("{}", .notAPayload, "Use `MetricKitReport`"),
        (#"{"crashDiagnostics":[{}]}"#, .notAPayload, "Use `MetricKitReport`"),
        (String(repeating: "[", count: 70_000), .tooLarge, "Keep the bytes"),
    ])
    func localizedDescriptionHasReasonAndAdvice(_ text: String, _ code: PayloadError.Code, _ advice: String) throws {
        let error = try #require(throws: PayloadError.self) { try MetricPayload(Data(text.utf8)) }
        #expect(error.code == code)
        #expect("\(error)" == error.reason)
        let shown = (error as any Error).localizedDescription
        #expect(shown.hasPrefix(error.reason))
        #expect(shown.contains(advice))
    }
}
