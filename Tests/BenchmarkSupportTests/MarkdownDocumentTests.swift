import Testing

@testable import BenchmarkSupport

@Suite(.timeLimit(.minutes(10))) struct MarkdownDocumentTests {
    @Test func refreshedReplacesPartsAndKeepsRest() throws {
        let document = MarkdownDocument(
            text: """
                # Title
                <!-- made: results throttle/ peer/x -->
                old
                <!-- end -->
                <!-- made: fleet -->
                kept
                <!-- end -->
                text

                """)
        let refreshed = try document.refreshed { part, words in
            part == .results ? ["\(part) of \(words)"] : nil
        }
        #expect(
            refreshed == """
                # Title
                <!-- made: results throttle/ peer/x -->

                results of ["throttle/", "peer/x"]

                <!-- end -->
                <!-- made: fleet -->
                kept
                <!-- end -->
                text

                """)
        let again = try MarkdownDocument(text: refreshed).refreshed { part, words in
            part == .results ? ["\(part) of \(words)"] : nil
        }
        #expect(again == refreshed, "making it twice changes nothing")
    }

    @Test(arguments: [
        ("a\n<!-- made: results -->", 2, "this part has no end"),
        ("<!-- made: limits -->\n<!-- made: limits -->\n<!-- end -->", 2, "the part before this one has no end"),
        ("<!-- end -->", 1, "this ends no part"),
        (
            "<!-- made: resluts a -->\n<!-- end -->", 1,
            "no such part; there are machine, results, limits, fleet, growth, limitSum, limitTrials, limitDefeats"
        ),
        (
            "<!-- made: limits\n<!-- end -->", 1,
            "no such part; there are machine, results, limits, fleet, growth, limitSum, limitTrials, limitDefeats"
        ),
    ])
    func mistakeHasItsLineNumber(text: String, line: Int, mistake: String) {
        #expect(throws: MarkdownDocument.Mistake(line: line, text: mistake)) {
            try MarkdownDocument(text: text).refreshed { _, _ in [] }
        }
    }
}
