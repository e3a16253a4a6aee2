#if os(Linux)
    import CLoaderChainCurl
    import Dispatch
    import LoaderChain
    import LoaderChainPlatformC
    import LoaderChainPlatformFoundation
    import Synchronization

    /// The thread that owns handles of libcurl, and carries the transfers on them.
    ///
    /// Jobs come in from any thread; one wake is enough for all that come while the thread sleeps. The ends of transfers go out to
    /// ``CurlResults``, so that no code of a user runs here.
    final class CurlLoop: Sendable {
        /// What another thread wants.
        private enum Job: Sendable {
            case start(CurlTransfer)
            case stop(CurlTransfer)
        }

        private struct Inbox {
            var jobs: [Job] = []
            /// Whether the thread waits for the network, or is about to.
            var isAsleep = false
            var isEnded = false
        }

        /// What the loop and its thread share.
        private final class Shared: @unchecked Sendable {
            let inbox = Locked(Inbox())
            /// The set of transfers, which only waking may touch from another thread.
            let multi: OpaquePointer
            /// How many transfers were started and have not reported their end.
            let running = Atomic(0)

            init(_ multi: OpaquePointer) { self.multi = multi }
        }

        private let shared: Shared

        var count: Int { shared.running.load(ordering: .relaxed) }

        /// Begins a thread, which reports the ends of transfers itself if `endsOnLoop`; nil if there is no thread or descriptor left.
        init?(_ library: CurlLibrary, idleConnections: Int, endsOnLoop: Bool, hasHTTP2: Bool) {
            guard let multi = loaderchain_curl_multi_make() else { return nil }
            // Before version 8.20, a set is made without what wakes it if the process has no descriptors left.
            guard loaderchain_curl_multi_wake(multi) == 0 else {
                _ = loaderchain_curl_multi_end(multi)
                return nil
            }
            shared = Shared(multi)
            let carrier = Unmanaged.passRetained(
                Carrier(
                    library, shared, endsOnLoop ? nil : CurlResults(), idleConnections: idleConnections,
                    hasHTTP2: hasHTTP2))
            let result = loaderchain_curl_start_thread(
                { Unmanaged<Carrier>.fromOpaque($0!).takeRetainedValue().run() }, carrier.toOpaque())
            guard result == 0 else {
                carrier.release()
                _ = loaderchain_curl_multi_end(multi)
                return nil
            }
        }

        deinit { wake { $0.isEnded = true } }

        func start(_ transfer: CurlTransfer) {
            shared.running.wrappingAdd(1, ordering: .relaxed)
            post(.start(transfer))
        }

        /// Stops a transfer, also one that has ended or not started.
        func stop(_ transfer: CurlTransfer) { post(.stop(transfer)) }

        private func post(_ job: Job) { wake { $0.jobs.append(job) } }

        private func wake(_ change: (inout Inbox) -> Void) {
            shared.inbox.withLock { inbox in
                change(&inbox)
                // Under the lock, because the thread ends the set once it sees that it is not wanted any more.
                if replace(&inbox.isAsleep, with: false) { _ = loaderchain_curl_multi_wake(shared.multi) }
            }
        }

        /// The thread's part, which does not hold the loop, so that this can end.
        private final class Carrier: @unchecked Sendable {
            private let library: CurlLibrary
            private let shared: Shared
            private let results: CurlResults?
            private let idleConnections: Int
            private let hasHTTP2: Bool

            // Only the thread touches these.
            private var idle: [CurlHandle] = []
            private var transfers: [OpaquePointer: CurlTransfer] = [:]
            private var ended: [CurlResults.Result] = []
            private let gathering = CurlGathering()
            /// How many transfers the connections suffice for.
            private var capacity = 0

            /// More handles than these are not kept.
            private static let mostIdle = 256

            init(
                _ library: CurlLibrary, _ shared: Shared, _ results: CurlResults?, idleConnections: Int, hasHTTP2: Bool
            ) {
                self.library = library
                self.shared = shared
                self.results = results
                self.idleConnections = idleConnections
                self.hasHTTP2 = hasHTTP2
            }

            /// How long the thread may wait for the network, in milliseconds.
            ///
            /// In one of two hundred bursts of a hundred requests over HTTP/2, libcurl forgets what it has received for some of them,
            /// until it is called again for whatever reason; seen with 7.88 and 8.14, also without this package.
            private var longestWait: Int32 { hasHTTP2 && !transfers.isEmpty ? 50 : 60_000 }

            func run() {
                while true {
                    if carryOutJobs(), transfers.isEmpty { break }
                    var running: Int32 = 0
                    _ = loaderchain_curl_multi_perform(shared.multi, &running)
                    gathering.endTurn()
                    var result: Int32 = 0
                    while let pointer = loaderchain_curl_multi_ended(shared.multi, &result) { end(pointer, result) }
                    report()
                    let mayWait = shared.inbox.withLock { inbox in
                        inbox.isAsleep = inbox.jobs.isEmpty && !(inbox.isEnded && transfers.isEmpty)
                        return inbox.isAsleep
                    }
                    if mayWait, loaderchain_curl_multi_poll(shared.multi, longestWait) != 0 {
                        // The system is short of something, which a loop without a pause would not help.
                        usleep(1_000)
                    }
                }
                idle = []
                _ = loaderchain_curl_multi_end(shared.multi)
            }

            /// Does what has come in, and returns whether no more comes.
            ///
            /// It keeps no job beyond that: a job keeps its transfer, which keeps the loop, whose end this thread waits for.
            private func carryOutJobs() -> Bool {
                let (jobs, isEnded) = shared.inbox.withLock { inbox in
                    inbox.isAsleep = false
                    return (replace(&inbox.jobs, with: []), inbox.isEnded)
                }
                // A start whose stop has come is not carried out: before version 7.80, nothing keeps libcurl from sending it.
                for case .stop(let transfer) in jobs { _ = transfer.stop() }
                for job in jobs { carryOut(job) }
                return isEnded && jobs.isEmpty
            }

            private func carryOut(_ job: Job) {
                switch job {
                case .start(let transfer):
                    guard !transfer.isStopped else { return note(transfer, .stopped) }
                    guard let handle = idle.popLast() ?? CurlHandle() else { return note(transfer, .outOfMemory) }
                    transfers[handle.pointer] = transfer
                    if transfers.count > capacity { setCapacity(max(64, 2 * transfers.count)) }
                    guard transfer.start(on: handle, gathering) else { return end(handle.pointer, 0) }
                    // 27 is libcurl's own word for a lack of memory.
                    if loaderchain_curl_multi_add(shared.multi, handle.pointer) != 0 { end(handle.pointer, 27) }
                case .stop(let transfer):
                    // A stop may come before the start that it belongs to, and after the end.
                    guard transfer.stop(), let handle = transfer.handle else { return }
                    if !library.leavesResolver, handle.isResolving {
                        // libcurl keeps the handle until the resolver has answered, and connects to nothing then.
                        transfer.isLeft = true
                        note(transfer, .stopped)
                    } else {
                        end(handle.pointer, 0)
                    }
                }
            }

            private func end(_ pointer: OpaquePointer, _ result: Int32) {
                guard let transfer = transfers.removeValue(forKey: pointer) else { return }
                // Before anything that the handle refers to is released.
                _ = loaderchain_curl_multi_remove(shared.multi, pointer)
                let (handle, ending) = transfer.end(result)
                // After a failure, a handle may still know the system's error, and if libcurl refused an option, the list of addresses.
                if case .arrived = ending, let handle, handle.refusedOption == nil, idle.count < Self.mostIdle {
                    handle.reset()
                    idle.append(handle)
                }
                if !transfer.isLeft { note(transfer, ending) }
                if transfers.count < capacity / 4, capacity > 64 { setCapacity(capacity / 2) }
            }

            /// libcurl counts connections that are in use among those that it keeps, and closes what is beyond.
            private func setCapacity(_ transfers: Int) {
                capacity = transfers
                _ = loaderchain_curl_multi_set_number(
                    shared.multi, CurlOption.connections, transfers + idleConnections)
            }

            private func note(_ transfer: CurlTransfer, _ ending: CurlTransfer.Ending) {
                shared.running.wrappingSubtract(1, ordering: .relaxed)
                ended.append(CurlResults.Result(transfer: transfer, ending: ending))
            }

            private func report() {
                guard !ended.isEmpty else { return }
                let ended = replace(&self.ended, with: [])
                if let results { results.add(ended) } else { for result in ended { result.report() } }
            }
        }
    }

    /// Reports the ends of transfers on other threads.
    ///
    /// A worker reports one after the other, which are most of the time all of a turn of the loop. Before each, it makes sure that
    /// another worker comes for the rest: a user's code may take any time, or wait for another request.
    final class CurlResults: Sendable {
        struct Result: Sendable {
            let transfer: CurlTransfer
            let ending: CurlTransfer.Ending

            func report() { transfer.report(ending) }
        }

        private struct State {
            var results = LinkedQueue<Result>()
            /// Whether a worker has been called and has not come yet.
            var isWorkerComing = false
        }

        private let state = Locked(State())

        func add(_ results: [Result]) {
            state.withLock { state in for result in results { _ = state.results.append(result) } }
            callWorker()
        }

        private func callWorker() {
            let isNeeded = state.withLock { state in
                !state.results.isEmpty && !replace(&state.isWorkerComing, with: true)
            }
            if isNeeded { DispatchQueue.global().async { self.work() } }
        }

        private func work() {
            state.withLock { $0.isWorkerComing = false }
            while let result = state.withLock({ $0.results.popFirst() }) {
                callWorker()
                result.report()
            }
        }
    }
#endif
