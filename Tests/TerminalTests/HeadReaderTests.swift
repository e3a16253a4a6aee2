#if os(Linux)
    import LoaderChain
    import Testing

    @testable import LoaderChainCurl

    /// Heads as servers send them, line by line.
    @Suite(.timeLimit(.minutes(10))) struct HeadReaderTests {
        /// What the lines of a text lead to, with the trailers after the head, and whether the head was whole in the end.
        private func read(_ text: String) -> (events: [String], isWhole: Bool) {
            var reader = HeadReader()
            var events: [String] = []
            var line: [UInt8] = []
            for byte in text.utf8 {
                line.append(byte)
                guard byte == UInt8(ascii: "\n") else { continue }
                switch line.withUnsafeBytes({ reader.take($0) }) {
                case .nothing, .interim: break
                case .head(let head):
                    events.append("\(head.version) \(head.status.rawValue) \(fields(head.headers))")
                case .refused(let reason): events.append(reason)
                }
                line = []
            }
            if events.count == 1, !reader.trailers.isEmpty { events[0] += " \(fields(reader.trailers))" }
            return (events, reader.isWhole)
        }

        private func fields(_ headers: HTTPHeaders) -> String {
            headers.map { "\($0.name)=\($0.value)" }.joined(separator: ";")
        }

        @Test(arguments: [
            ("HTTP/1.1 200 OK\r\nA: b\r\nC:d \r\n\r\n", "1.1 200 A=b;C=d"),
            ("HTTP/1.0 404 Not Found\nA:\n\n", "1.0 404 A="), ("HTTP/2 200 \r\nserver: x\r\n\r\n", "2 200 server=x"),
            ("HTTP/1.1 204\r\n\r\n", "1.1 204 "),
            ("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n\r\n", "1.1 200 A=b"),
            ("HTTP/1.1 200 OK\r\nA: b\r\n  c\r\n\td\r\n\r\n", "1.1 200 A=b c d"),
            ("HTTP/1.1 200 OK\r\nA:\r\n b\r\n\r\n", "1.1 200 A=b"),
            ("HTTP/1.1 200 OK\r\nA: b\r\n\r\nX-Sum: 7\r\n 8\r\nX-End: y\r\n\r\n", "1.1 200 A=b X-Sum=7 8;X-End=y"),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n",
                "1.1 200 Content-Length=3;Content-Length=3"
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3, 4\r\n\r\n",
                "1.1 200 Transfer-Encoding=chunked;Content-Length=3, 4"
            ),
        ])
        func wholeHeadIsRead(_ text: String, _ expected: String) {
            let (events, isWhole) = read(text)
            #expect(events == [expected] && isWhole)
        }

        /// Each line would copy what is before it.
        @Test func fieldsGoOnOverFewLines() {
            let field = "HTTP/1.1 200 OK\r\nA: b\r\n"
            #expect(read(field + String(repeating: " c\r\n", count: 100) + "\r\n").isWhole)
            let events = read(field + String(repeating: " c\r\n", count: 101) + "\r\n").events
            #expect(events.first == "The fields of the head go on over more than 100 lines")
        }

        /// libcurl keeps all of them.
        @Test func headsBeforeTheResponseShareItsLimit() {
            let interim = "HTTP/1.1 103 Early Hints\r\nLink: \(String(repeating: "x", count: 1_000))\r\n\r\n"
            let end = "HTTP/1.1 200 OK\r\n\r\n"
            #expect(read(String(repeating: interim, count: 200) + end).events == ["1.1 200 "])
            #expect(
                read(String(repeating: interim, count: 300) + end).events.first
                    == "There are more than 307200 bytes in the head")
        }

        @Test(arguments: [
            "", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n", "HTTP/1.1 103 Early Hints\r\n\r\n",
            "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n",
        ])
        func headThatEndsTooEarlyIsNotWhole(_ text: String) {
            let (events, isWhole) = read(text)
            #expect(events.isEmpty && !isWhole)
        }

        @Test(arguments: [
            ("A: b\r\n", "The head begins with no status line"),
            ("HTTP/1.1 20 OK\r\n", "The head begins with no status line"),
            ("HTTP/1.1 099 OK\r\n", "The head begins with no status line"),
            ("HTTP/3.7 200 OK\r\n", "The head begins with no status line"),
            ("HTTP/1.1 200 OK\r\nA: b\0c\r\n", "There is a NUL in the head"),
            ("HTTP/1.1 2000 OK\r\n", "The head begins with no status line"),
            ("\r\n", "The head begins with no status line"),
            ("HTTP/1.1 200 OK\r\nHTTP/1.1 200 OK\r\n", "A head begins within another one"),
            ("HTTP/1.1 200 OK\r\nno name\r\n", "A line of the head has no name"),
            ("HTTP/1.1 200 OK\r\n: x\r\n", "A line of the head has no name"),
            ("HTTP/1.1 200 OK\r\n x\r\n", "A line of the head has no name"),
            (
                "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n",
                "The server changes the protocol, which was not asked for"
            ),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n",
                "The response has several lengths: \"3, 4\""
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
                "The response has a transfer coding that was not asked for: \"gzip\""
            ),
            (
                "HTTP/1.1 200 OK\r\n"
                    + String(repeating: "X-A: \(String(repeating: "a", count: 1_000))\r\n", count: 306),
                "There are more than 307200 bytes in the head"
            ),
            ("HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\n", "The response has a length that is none: \"-3\""),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
                "The response has a length that is none: \"99999999999999999999\""
            ),
        ])
        func headThatLiesIsRefused(_ text: String, _ reason: String) {
            #expect(read(text).events == [reason])
        }

        @Test(arguments: [
            ("no name\r\n", "A line of the trailers has no name"),
            (
                String(repeating: "X-A: \(String(repeating: "a", count: 1_000))\r\n", count: 306),
                "There are more than 307200 bytes in the trailers"
            ),
        ])
        func trailersThatLieAreRefused(_ lines: String, _ reason: String) {
            #expect(read("HTTP/1.1 200 OK\r\n\r\n" + lines).events == ["1.1 200 ", reason])
        }

        @Test func secondHeadAfterFirstIsRefused() {
            #expect(
                read("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n").events == [
                    "1.1 200 ", "Another response follows the head",
                ])
        }
    }
#endif
