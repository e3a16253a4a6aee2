import Foundation
import LoaderChain
import Testing

@Suite(.timeLimit(.minutes(10))) struct HTTPErrorTests {
    /// An error whose own words quote a secret.
    private enum Talkative: Error, CustomStringConvertible {
        case first, second

        var description: String { "could not load https://example.com/?token=swordfish" }
    }

    private let request = HTTPRequest(host: "example.com", path: "/things")

    @Test func descriptionNamesUnderlyingErrorByTypeAndNumber() {
        let error = HTTPError(.cannotConnect, request: request, underlyingError: Talkative.second)
        #expect(error.description == "cannotConnect: GET https://example.com/things. Underlying error: Talkative 1")
        #expect(error.localizedDescription == error.description)
    }

    @Test func descriptionIncludesUnderlyingHTTPError() {
        let inner = HTTPError(.timedOut, request: request, reason: "It took 3 seconds")
        let outer = HTTPError(.unknown, request: request, underlyingError: inner, loader: "Upper")
        #expect(
            outer.description == """
                unknown (Upper): GET https://example.com/things. Underlying error: timedOut: GET https://example.com/things. \
                It took 3 seconds
                """)
    }

    @Test(
        arguments: [
            HTTPBodyError("Too much"), HTTPBodyError("Changed", code: .changedFile),
            OAuthError(.invalidGrant, status: .badRequest, message: "not for logs"), SignInRequiredError(),
        ] as [any Error])
    func localizedDescriptionEqualsDescription(error: any Error) {
        #expect(error.localizedDescription == "\(error)")
        #expect(!error.localizedDescription.contains("could not be completed"))
        #expect(!error.localizedDescription.contains("not for logs"))
    }

    @Test func invalidHeaderErrorGivesReasonAsLocalizedDescription() {
        let headers: HTTPHeaders = ["X-Name": "a\nb"]
        let error = #expect(throws: HTTPHeaders.Invalid.self) { try headers.validate() }
        #expect(error?.localizedDescription == error?.reason)
        #expect(error?.reason.contains("a line feed (0x0A)") == true)
    }
}
