import Dispatch
import LoaderChain
import LoaderChainTesting

/// Ends the process when there is no progress for too long.
struct Watchdog {
    private let isOver = DispatchSemaphore(value: 0)
    private let thread: SystemThread

    /// Starts watching; the text of `progress` differs whenever there was progress.
    init(_ ledger: Ledger, patience: Int, progress: @escaping @Sendable () -> String) {
        let isOver = isOver
        do {
            thread = try SystemThread {
                var last = progress()
                while isOver.wait(timeout: .now() + .seconds(patience)) == .timedOut {
                    let present = progress()
                    if present == last { ledger.fail("nothing has happened for \(patience) s: \(present)") }
                    last = present
                }
            }
        } catch {
            ledger.fail("the watchdog's thread cannot be started: \(error)")
        }
    }

    /// Stops watching.
    func stop() {
        isOver.signal()
        thread.join()
    }
}
