/// The thread that accepts connections, and joins the threads of those that have ended.
///
/// Only this thread knows the threads of the connections; when it has ended, all of them have.
struct LoopbackListener: Sendable {
    let socket: LoopbackSocket
    let core: LoopbackCore

    /// How long to wait before the next attempt when the process has run out of descriptors.
    private static let pauseWhenExhausted = Duration.milliseconds(50)

    func run() {
        var threads: [Int: SystemThread] = [:]
        var isExhausted = false
        while true {
            var watches: [LoopbackWatch] = [.readable(core.stopping.descriptor), .readable(core.ending.descriptor)]
            let accepts = threads.count < core.limits.connections && !isExhausted
            if accepts { watches.append(.readable(socket.descriptor)) }
            let deadline = isExhausted ? ContinuousClock.now + Self.pauseWhenExhausted : nil
            let isReady = LoopbackWatch.wait(watches, until: deadline)
            isExhausted = false
            if isReady[0] { break }
            if isReady[1] {
                for number in core.takeEnded() { threads.removeValue(forKey: number)?.join() }
            }
            guard accepts, isReady[2] else { continue }
            switch socket.accept() {
            case .connection(let accepted): serve(accepted, in: &threads)
            case .gone: break  // The client has left between the two calls.
            case .exhausted: isExhausted = true
            }
        }
        // A child process that is just being started has a copy, which would keep the port until its program begins.
        socket.stopListening()
        socket.close()
        for thread in threads.values { thread.join() }
    }

    private func serve(_ accepted: LoopbackSocket, in threads: inout [Int: SystemThread]) {
        let connection = LoopbackConnection(number: core.openConnection(), socket: accepted, core: core)
        do throws(SystemError) {
            threads[connection.number] = try SystemThread { [core] in core.run(connection) }
        } catch {
            // There is no thread to serve the connection.
            core.close(connection)
        }
    }
}
