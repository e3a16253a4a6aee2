import Testing

@testable import BenchmarkSupport

@Suite(.timeLimit(.minutes(10))) struct TableTests {
    @Test func columnsAreAlignedAndEmptyColumnsOmitted() {
        var table = Table([
            .init(title: "name", alignment: .left), .init(title: "ns", alignment: .decimal),
            .init(title: "empty", alignment: .left), .init(title: "n", alignment: .right),
        ])
        table.add(["a/long", "1,234", "", "1"])
        table.addGap()
        table.add(["b", "7.25", "", "10"])
        #expect(
            table.lines(styled: false) == [
                "  name           ns    n",
                "  ──────   ────────   ──",
                "  a/long   1,234       1",
                "",
                "  b            7.25   10",
            ])
    }

    @Test func markdownEscapesBarsInCells() {
        var table = Table([
            .init(title: "name", alignment: .left), .init(title: "empty", alignment: .left),
            .init(title: "n", alignment: .right),
        ])
        #expect(table.markdown().isEmpty)
        table.add(["`a`", "", "1"])
        table.addGap()
        table.add(["a | b", "", "10"])
        #expect(table.markdown() == ["| name | n |", "| --- | --: |", "| `a` | 1 |", "| a \\| b | 10 |"])
    }

    @Test func styleDoesNotChangeLayout() {
        var table = Table([.init(title: "a", alignment: .right), .init(title: "b", alignment: .left)])
        table.add([Table.Cell("1", .bad), "x"])
        table.add(["1000", "y"])
        let styled = table.lines(styled: true).map { $0.replacing(/\u{1B}\[[0-9;]*m/, with: "") }
        #expect(styled == table.lines(styled: false))
        #expect(table.lines(styled: true).contains("     \u{1B}[1;31m1\u{1B}[0m   x"))
    }

    @Test func numbersAreFormatted() {
        #expect(Numbers.measured(6.62) == "6.62")
        #expect(Numbers.measured(9.996) == "10.0")
        #expect(Numbers.measured(410.34) == "410.3")
        #expect(Numbers.measured(999.96) == "1,000")
        #expect(Numbers.measured(1_234_567) == "1,234,567")
        #expect(Numbers.measured(-3) == "-3.00")
        #expect(Numbers.fixed(0.05, places: 1) == "0.1")
        #expect(Numbers.fixed(-0.01, places: 1) == "0.0")
        #expect(Numbers.short(2) == "2")
        #expect(Numbers.short(10) == "10")
        #expect(Numbers.short(0) == "0")
        #expect(Numbers.short(0.125) == "0.125")
        #expect(Numbers.percent(0.0423) == "4.2%")
        #expect(Numbers.advantage(0.08) == "12.5× faster")
        #expect(Numbers.advantage(1.5) == "1.50× slower")
        #expect(Numbers.advantage(1.001) == "level")
        #expect(Numbers.advantage(0) == "free")
        #expect(Numbers.advantage(-4.5) == "free")
        #expect(Numbers.time(6.618) == "6.62 ns")
        #expect(Numbers.time(9_999) == "9,999 ns")
        #expect(Numbers.time(22_453) == "22.5 µs")
        #expect(Numbers.time(304_999_128) == "305.0 ms")
        #expect(Numbers.time(2e9, Numbers.short) == "2 s")
        #expect(Numbers.tick(999_999) == "999,999")
        #expect(Numbers.tick(2_500_000) == "2.5M")
        #expect(Numbers.bytes(600) == "600 B")
        #expect(Numbers.bytes(2_048) == "2.00 KiB")
        #expect(Numbers.bytes(5 * 1_073_741_824) == "5.00 GiB")
    }

    @Test func textIsWrappedAtWords() {
        #expect(Listing.wrapped("one two three", width: 7) == ["one two", "three"])
        #expect(Listing.wrapped("incomprehensible yes", width: 5) == ["incomprehensible", "yes"])
        #expect(Listing.wrapped("", width: 5) == [""])
    }
}
