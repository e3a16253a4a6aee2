import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct QuantileRankTests {
    @Test func shareMapsToRankOfItsLastValue() {
        var wrong: [String] = []
        for count in 1...200 {
            for rank in 1...count {
                let share = Double(rank) / Double(count)
                let shares = [share.nextDown, share, min(1, share.nextUp)]
                let told = shares.map { QuantileRank(of: $0, among: count)?.rank }
                if told != [rank, rank, min(rank + 1, count)] { wrong.append("\(share) of \(count): \(told)") }
            }
        }
        #expect(wrong.isEmpty)
    }

    @Test func positionIsWholeAtValueBoundary() {
        #expect(QuantileRank(of: 0.07, among: 100)?.position == 7)
        #expect(QuantileRank(of: 0.5, among: 3)?.position == 1.5)
        #expect(QuantileRank(of: 0.5, among: 3)?.rank == 2)
        #expect(QuantileRank(of: 0, among: 3)?.rank == 1)
        #expect(QuantileRank(of: 0, among: 3)?.position == 0)
    }

    @Test func largestCountDoesNotOverflow() {
        #expect(QuantileRank(of: 1, among: .max)?.rank == .max)
        #expect(QuantileRank(of: 0.5, among: .max)?.rank == 1 << 62)
    }

    @Test func invalidShareOrZeroCountHasNoRank() {
        for share in [90, 1.0.nextUp, -0.1, .infinity, .nan] { #expect(QuantileRank(of: share, among: 5) == nil) }
        #expect(QuantileRank(of: 0.5, among: 0) == nil)
    }
}
