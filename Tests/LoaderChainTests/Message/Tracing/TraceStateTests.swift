import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct TraceStateTests {
    private func entries(_ values: String...) -> [String] {
        HTTPTraceContext.State(HTTPHeaders(values.map { HTTPHeaders.Field("tracestate", $0) })).entries
            .map { "\($0.key)=\($0.value)" }
    }

    @Test func listIsReadInOrder() {
        #expect(entries("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE") == ["rojo=00f067aa0ba902b7", "congo=t61rcWkgMzE"])
        #expect(entries(" a=1 ,\tb=2\t, ,,c= 3") == ["a=1", "b=2", "c= 3"])
        #expect(entries("a=1,b=2", "c=3") == ["a=1", "b=2", "c=3"])
        #expect(entries("") == [] && entries() == [])
    }

    @Test func firstEntryOfRepeatedKeyCounts() {
        #expect(entries("a=1,b=2,a=3") == ["a=1", "b=2"])
    }

    @Test(arguments: [
        "a", "0", "a_-*/@z", "tenant@system", "9abc", String(repeating: "k", count: 256),
    ])
    func validKeyIsAccepted(_ key: String) { #expect(entries("\(key)=1") == ["\(key)=1"]) }

    @Test(arguments: [
        "", "A", "_a", "-a", "*a", "/a", "@a", "a b", "a.b", "ä", "a\u{1}", "aB", String(repeating: "k", count: 257),
    ])
    func invalidKeyInvalidatesList(_ key: String) { #expect(entries("x=1,\(key)=1,y=2") == []) }

    @Test(arguments: [
        "!", "~", "a b", " a", "\"\\;:", String(repeating: "v", count: 256),
    ])
    func validValueIsAccepted(_ value: String) { #expect(entries("k=\(value)") == ["k=\(value)"]) }

    @Test(arguments: [
        "", "a=b", "ä", "a\u{7F}", "a\tb", "a\u{0}b", String(repeating: "v", count: 257),
    ])
    func invalidValueInvalidatesList(_ value: String) { #expect(entries("x=1,k=\(value)") == []) }

    @Test func memberWithoutEqualsSignInvalidatesList() { #expect(entries("x=1,k") == []) }

    @Test func moreThanThirtyTwoEntriesInvalidateList() {
        let all = (0..<33).map { "k\($0)=1" }
        #expect(entries(all.prefix(32).joined(separator: ",,")).count == 32)
        #expect(entries(all.joined(separator: ",")) == [])
    }

    @Test func setEntryComesFirst() {
        var state = HTTPTraceContext.State(["tracestate": "a=1,b=2"])
        let isSet = state.set("b", to: "3")
        #expect(isSet && state.fieldValue == "b=3,a=1")
        #expect(state["a"] == "1" && state["c"] == nil)
        for (key, value) in [("B", "1"), ("", "1"), ("k", ""), ("k", "a,b"), ("k", "a "), ("k", "a\r\nx: y")] {
            let isSet = state.set(key, to: value)
            #expect(!isSet)
        }
        #expect(state.fieldValue == "b=3,a=1")
        state.remove("b")
        state.remove("a")
        #expect(state.fieldValue == nil)
    }

    @Test func settingThirtyThirdEntryRemovesLast() {
        var state = HTTPTraceContext.State()
        for number in 0..<33 { state.set("k\(number)", to: "1") }
        #expect(state.entries.count == 32 && state["k0"] == nil && state.entries.first?.key == "k32")
    }

    @Test func longListDropsWholeLongEntriesFirst() {
        func entry(_ key: String, _ length: Int) -> String { "\(key)=" + String(repeating: "v", count: length - 2) }
        func sent(_ entries: String...) -> [String] {
            let state = HTTPTraceContext.State(["tracestate": entries.joined(separator: ",")])
            return state.fieldValue?.split(separator: ",").map { String($0.prefix(1)) } ?? []
        }
        // 512 characters are passed unchanged.
        #expect(sent(entry("a", 128), entry("b", 128), entry("c", 128), entry("d", 125)) == ["a", "b", "c", "d"])
        #expect(sent(entry("a", 128), entry("b", 128), entry("c", 128), entry("d", 126)) == ["a", "b", "c"])
        #expect(sent(entry("a", 200), entry("b", 129), entry("c", 100), entry("d", 100)) == ["a", "c", "d"])
    }
}
