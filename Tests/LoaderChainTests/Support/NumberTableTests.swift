import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct NumberTableTests {
    @Test func randomWalksAgreeWithADictionary() {
        takeWalks(difference(onWalk:))
    }

    /// Walks along numbers that lie next to each other, or far apart with the same low bits.
    private func difference(onWalk seed: UInt64) -> String? {
        var dice = SeededGenerator(seed: seed)
        var table = NumberTable<UInt64>()
        var naive: [UInt64: UInt64] = [:]
        let stride: UInt64 = 1 << dice.next(upperBound: 20 as UInt64)
        let range: UInt64 = 1 << dice.next(upperBound: 7 as UInt64)
        for step in 0..<80 as Range<UInt64> {
            let number = dice.next(upperBound: range) * stride
            if dice.next(upperBound: 3 as UInt64) > 0 {
                table.insert(step, at: number)
                naive[number] = step
            } else {
                let (removed, expected) = (table.remove(number), naive.removeValue(forKey: number))
                if removed != expected { return "removed \(removed as Any) at \(number), not \(expected as Any)" }
            }
            if table.count != naive.count { return "\(table.count) values, not \(naive.count)" }
        }
        let all = table.all.sorted()
        return all == naive.values.sorted() ? nil : "it holds \(all)"
    }

    @Test func aBurstComesAndGoes() {
        var table = NumberTable<Int>()
        for number in 0..<100_000 { table.insert(number, at: UInt64(number)) }
        #expect(table.count == 100_000)
        for number in stride(from: 0, to: 100_000, by: 2) { #expect(table.remove(UInt64(number)) == number) }
        for number in stride(from: 1, to: 100_000, by: 2) { #expect(table.remove(UInt64(number)) == number) }
        #expect(table.isEmpty)
        #expect(Array(table.all).isEmpty)
    }
}
