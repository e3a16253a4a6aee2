import LoaderChainPlatformC
import LoaderChainTesting
import TestSizes
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct NetworkTests {
    private let timers = ManualTimers()

    @Test func interfacesArePolledOncePerSecondAndOnlyOnDemand() {
        let (isUp, looks) = (Locked(true), Locked(0))
        let poll = InterfacePoll(timers: timers) {
            looks.withLock { $0 += 1 }
            return isUp.withLock { $0 }
        }
        #expect(poll.isAvailable && poll.isAvailable)
        #expect(looks.withLock { $0 } == 1 && timers.pendingCount == 0, "nothing watches")
        isUp.withLock { $0 = false }
        timers.advance(by: .milliseconds(999))
        #expect(poll.isAvailable)
        timers.advance(by: .milliseconds(1))
        #expect(!poll.isAvailable)

        let heard = EventLog()
        let first = poll.watch { heard.note("first \($0)") }
        let second = poll.watch { heard.note("second \($0)") }
        #expect(timers.pendingCount == 1)
        timers.advance(by: .seconds(3))
        #expect(heard.events.isEmpty)
        isUp.withLock { $0 = true }
        timers.advance(by: .seconds(2))
        #expect(heard.events == ["first true", "second true"])
        first.cancel()
        isUp.withLock { $0 = false }
        timers.advance(by: .seconds(1))
        #expect(heard.events.last == "second false" && heard.events.count == 3)
        second.cancel()
        second.cancel()
        #expect(timers.pendingCount == 0)
        isUp.withLock { $0 = true }
        timers.advance(by: .seconds(10))
        #expect(heard.events.count == 3)
    }

    @Test func watchStartedInsideHandlerKeepsOneTimer() {
        let isUp = Locked(true)
        let poll = InterfacePoll(timers: timers) { isUp.withLock { $0 } }
        let watches = Locked<[NetworkWatch]>([])
        watches.withLock {
            $0.append(
                poll.watch { _ in
                    let old = watches.withLock { replace(&$0, with: []) }
                    for watch in old { watch.cancel() }
                    let new = poll.watch { _ in }
                    watches.withLock { $0.append(new) }
                })
        }
        isUp.withLock { $0 = false }
        timers.advance(by: .seconds(1))
        #expect(timers.pendingCount == 1)
        timers.advance(by: .seconds(5))
        #expect(timers.pendingCount == 1)
        for watch in watches.withLock({ replace(&$0, with: []) }) { watch.cancel() }
        #expect(timers.pendingCount == 0)
    }

    @Test func watchEndsOnceWithCancelOrLastReference() {
        let log = EventLog()
        do {
            let watch = NetworkWatch { log.note("ended") }
            watch.cancel()
            watch.cancel()
        }
        #expect(log.events == ["ended"])
        let network = ManualNetwork()
        do {
            let watch = network.watch { log.note("\($0)") }
            network.isAvailable = true
            network.isAvailable = false
            withExtendedLifetime(watch) {}
        }
        #expect(network.watches == 0)
        network.isAvailable = true
        #expect(log.events == ["ended", "false"])
    }

    @Test func systemNetworkCanBeWatchedAndRead() {
        let watch = SystemNetwork.shared.watch { _ in }
        // Whatever it says: the machine of a test may have none.
        _ = SystemNetwork.shared.isAvailable
        watch.cancel()
    }

    #if !canImport(Network)
        @Test func runningInterfaceLeadsOutUnlessItsAddressIsLocal() {
            let up = UInt32(truncatingIfNeeded: IFF_UP)
            let running = UInt32(truncatingIfNeeded: IFF_RUNNING)
            let loopback = UInt32(truncatingIfNeeded: IFF_LOOPBACK)
            /// An interface without an address, or with one that begins with two bytes if its family is IPv6.
            func leadsOut(_ flags: UInt32, _ family: CInt?, _ start: [UInt8] = [0x20, 0x01]) -> Bool {
                var address = sockaddr_in6()
                address.sin6_family = sa_family_t(family ?? AF_UNSPEC)
                withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: start) }
                return withUnsafeMutablePointer(to: &address) { address in
                    address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                        var interface = ifaddrs()
                        interface.ifa_flags = flags
                        interface.ifa_addr = family == nil ? nil : address
                        return Interfaces.leadsOut(interface)
                    }
                }
            }
            #expect(leadsOut(up | running, AF_INET) && leadsOut(up | running, AF_INET6))
            #expect(!leadsOut(up | running | loopback, AF_INET), "the loopback")
            #expect(!leadsOut(up, AF_INET) && !leadsOut(running, AF_INET), "a cable is missing, or it was turned off")
            #expect(!leadsOut(up | running, nil) && !leadsOut(up | running, AF_UNIX), "no address")
            #expect(!leadsOut(up | running, AF_INET6, [0xFE, 0x80]))
            #expect(!leadsOut(up | running, AF_INET6, [0xFE, 0xBF]))
            #expect(leadsOut(up | running, AF_INET6, [0xFE, 0xC0]) && leadsOut(up | running, AF_INET6, [0xFD, 0x80]))
        }
    #endif

    @Test func waitUntilAvailableEndsWithNetworkOrCancel() async throws {
        let network = ManualNetwork()
        try await network.waitUntilAvailable()
        network.isAvailable = false
        let waiting = Task { try await network.waitUntilAvailable() }
        let cancelled = Task { try await network.waitUntilAvailable() }
        try await eventually("both wait") { network.watches == 2 }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        try await eventually("one waits") { network.watches == 1 }
        network.isAvailable = true
        try await waiting.value
        #expect(network.watches == 0)
    }

    @Test func isForThisMachineRecognizesLoopbackHosts() {
        func isForThisMachine(_ host: String?) -> Bool { HTTPRequest(host: host).isForThisMachine }
        for host in ["localhost", "LocalHost", "a.localhost", "127.0.0.1", "127.9.9.9", "127.0.0", "::1", "[::1]"] {
            #expect(isForThisMachine(host), "\(host)")
        }
        for host in [nil, "", "a.test", "127.a.test", "127.0.0.1.test", "128.0.0.1", "localhost.test"] {
            #expect(!isForThisMachine(host), "\(host ?? "nil")")
        }
    }
}
