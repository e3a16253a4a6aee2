import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct HTTPMethodTests {
    @Test func methodIsCaseSensitive() {
        #expect(HTTPMethod.get == "GET")
        #expect(HTTPMethod.get != "get")
        #expect("\(HTTPMethod("BREW\n"))" == "BREW\\n")
    }

    @Test func isTokenAcceptsTokensOnly() {
        for name in ["GET", "M-SEARCH", "x"] { #expect(HTTPMethod(name).isToken) }
        for name in ["", "GET ", "G\r\nX", "GÉT", "A/B"] { #expect(!HTTPMethod(name).isToken) }
    }

    @Test func safeAndIdempotentMethodsFollowStandard() {
        let all: [HTTPMethod] = [.get, .head, .options, .trace, .put, .delete, .post, .patch, .connect, "BREW"]
        #expect(all.filter(\.isSafe) == [.get, .head, .options, .trace])
        #expect(all.filter(\.isIdempotent) == [.get, .head, .options, .trace, .put, .delete])
    }
}

@Suite(.timeLimit(.minutes(10))) struct HTTPStatusTests {
    @Test func statusClassesEndAtHundreds() {
        func classes(_ status: HTTPStatus) -> [Bool] {
            [
                status.isInformational, status.isSuccess, status.isRedirection, status.isClientError,
                status.isServerError,
            ]
        }
        for code in [-1, 0, 99, 600, 999] { #expect(!classes(HTTPStatus(code)).contains(true)) }
        for (index, hundred) in [100, 200, 300, 400, 500].enumerated() {
            for code in [hundred, hundred + 99] {
                #expect(classes(HTTPStatus(code)) == (0..<5).map { $0 == index })
            }
        }
    }

    @Test func descriptionHasCodeAndReason() {
        #expect("\(HTTPStatus.notFound)" == "404 Not Found")
        #expect("\(HTTPStatus.continue)" == "100 Continue")
        #expect("\(HTTPStatus(599))" == "599")
        #expect(HTTPStatus.ok == 200)
    }
}
