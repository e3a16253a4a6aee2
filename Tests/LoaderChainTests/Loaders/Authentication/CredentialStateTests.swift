import Testing

@testable import LoaderChain

/// The pure state of both loaders against the naive one.
@Suite(.timeLimit(.minutes(10))) struct CredentialStateTests {
    private static let fewEvents: [CredentialEvent] = [
        .arrive, .reject(0, canBeReplayed: true), .reject(0, canBeReplayed: false), .obtain(lifetime: nil),
        .fail(hasForgotten: false), .leave(0), .reset, .finishReset(hasForgotten: true),
    ]

    @Test(arguments: [false, true])
    func everySequenceOfSixEventsAgreesWithNaiveState(forgetsRejected: Bool) {
        var sequences = 0
        func extend(_ sequence: [CredentialEvent], _ driven: DrivenCredentials, _ naive: NaiveCredentials) {
            sequences += 1
            guard driven.notes == naive.notes else {
                Issue.record("\(sequence): \(driven.notes), not \(naive.notes)")
                return
            }
            guard sequence.count < 7 else { return }
            for event in Self.fewEvents {
                var driven = driven
                var naive = naive
                driven.happens(event, at: sequence.count)
                naive.happens(event, at: sequence.count)
                extend(sequence + [event], driven, naive)
            }
        }
        // With a credential in the beginning, six events get anywhere.
        var driven = DrivenCredentials(forgetsRejected: forgetsRejected)
        var naive = NaiveCredentials(forgetsRejected: forgetsRejected)
        for (step, event) in [CredentialEvent.arrive, .obtain(lifetime: nil)].enumerated() {
            driven.happens(event, at: -2 + step)
            naive.happens(event, at: -2 + step)
        }
        extend([.advance(0)], driven, naive)
        #expect(sequences == (0...6).reduce(0) { sum, _ in sum * 8 + 1 })
    }

    @Test func randomWalksAgreeWithNaiveState() {
        for seed in 0..<10_000 as Range<UInt64> {
            guard walk(seed) else { return }
        }
    }

    private func walk(_ seed: UInt64) -> Bool {
        var generator = SeededGenerator(seed: seed)
        let forgetsRejected = generator.next() % 2 == 0
        var driven = DrivenCredentials(forgetsRejected: forgetsRejected)
        var naive = NaiveCredentials(forgetsRejected: forgetsRejected)
        var checked = 0
        for step in 0..<60 {
            let event = Self.event(&generator)
            driven.happens(event, at: step)
            naive.happens(event, at: step)
            let isSame = driven.notes.count == naive.notes.count && driven.notes[checked...] == naive.notes[checked...]
            guard isSame, driven.waitingCount == naive.queue.count else {
                Issue.record(
                    "seed \(seed), step \(step), \(event): \(driven.notes[checked...]), not \(naive.notes[checked...])")
                return false
            }
            checked = driven.notes.count
        }
        return true
    }

    private static func event(_ generator: inout SeededGenerator) -> CredentialEvent {
        let place = Int(generator.next() % 8)
        let chance = generator.next() % 2 == 0
        return switch generator.next() % 16 {
        case 0..<5: .arrive
        case 5..<8: .reject(place, canBeReplayed: place != 0)
        case 8, 9: .obtain(lifetime: chance ? place * 2 : nil)
        case 10: .fail(hasForgotten: chance)
        case 11, 12: .leave(place)
        case 13: .advance(place)
        case 14: .finishReset(hasForgotten: chance)
        default: place < 3 ? .reset : .finishReset(hasForgotten: chance)
        }
    }

    @Test func standingOfQuestionFollowsAnswerAndReset() throws {
        var state = CredentialState<String, Int>(forgetsRejected: false)
        let first = try #require(state.arrive(1, at: .zero).question)
        #expect(state.standing(of: first.number) == .underWay)
        _ = state.answer("a", until: nil, hasForgotten: false)
        #expect(state.standing(of: first.number) == .over)
        let second = try #require(state.reject(1, by: 1, at: .zero)?.question)
        #expect(state.standing(of: first.number) == .over)
        #expect(state.standing(of: second.number) == .underWay)
        _ = state.reset()
        #expect(state.standing(of: second.number) == .unwanted)
        _ = state.answer("b", until: nil, hasForgotten: false)
        #expect(state.standing(of: second.number) == .over)
    }
}

extension CredentialState.Step {
    fileprivate var question: CredentialState.Question? {
        if case .ask(let question, _) = self { question } else { nil }
    }
}

extension TimerInstant {
    fileprivate static let zero = TimerInstant(nanoseconds: 0)
}
