import Foundation
import Testing

@testable import APIHealthKit

@Suite(.timeLimit(.minutes(10))) struct ProgramTests {
    @Test func lostOutputFailsUnlessPipeIsClosed() async {
        let full = "apihealth: the output was lost: no space left on device\n"
        for (code, status, complaint) in [(EPIPE, ProgramStatus.success, ""), (ENOSPC, ProgramStatus.failure, full)] {
            var program = TestProgram()
            program.surroundings.output = Output({ (_) throws(Output.Lost) in throw Output.Lost(code: code) })
            #expect(await program.run("help") == status)
            #expect(program.complaints.text == complaint)
        }
    }
}
