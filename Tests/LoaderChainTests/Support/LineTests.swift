import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct LineTests {
    private final class Entry: LineEntry {
        var place = LinePlace<Entry>()
        let number: Int
        init(_ number: Int) { self.number = number }
    }

    @Test(arguments: 0..<10) func everyWalkAgreesWithAnArray(group: UInt64) {
        for seed in (group * 200)..<(group * 200 + 200) {
            var dice = SeededGenerator(seed: seed)
            let line = Line<Entry>()
            var model: [Entry] = []
            var gone: [Entry] = []
            for number in 0..<80 {
                switch Int.random(in: 0..<8, using: &dice) {
                case 0..<4:
                    let entry = Entry(number)
                    line.append(entry)
                    model.append(entry)
                case 4, 5:
                    guard let index = model.indices.randomElement(using: &dice) else { continue }
                    #expect(line.remove(model[index]), "seed \(seed)")
                    gone.append(model.remove(at: index))
                case 6:
                    let first = line.popFirst()
                    #expect(first === model.first, "seed \(seed)")
                    if first != nil { gone.append(model.removeFirst()) }
                default:
                    if let entry = gone.randomElement(using: &dice) { #expect(!line.remove(entry), "seed \(seed)") }
                }
                #expect(line.entries.elementsEqual(model, by: ===) && line.count == model.count, "seed \(seed)")
            }
            #expect(line.removeAll().elementsEqual(model, by: ===) && line.isEmpty, "seed \(seed)")
        }
    }

    @Test func itOwnsWhatStandsInIt() {
        weak var left: Entry?
        weak var stayed: Entry?
        do {
            let line = Line<Entry>()
            do {
                let entries = (0..<2).map(Entry.init)
                (left, stayed) = (entries[0], entries[1])
                for entry in entries { line.append(entry) }
                #expect(line.remove(entries[0]))
            }
            #expect(left == nil && stayed != nil)
        }
        #expect(stayed == nil)
    }

    @Test func aLongLineIsReleasedWithoutRecursion() throws {
        try onThreads(1) { _ in
            let line = Line<Entry>()
            for number in 0..<500_000 { line.append(Entry(number)) }
        }
    }
}
