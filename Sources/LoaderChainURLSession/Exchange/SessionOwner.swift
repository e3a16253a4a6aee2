import Dispatch
import Foundation
import LoaderChain
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Owns the session of a loader, and the exchanges in flight on it.
///
/// Exchanges retain their owner, and the owner retains them while they are in flight. So it outlives its loader until the
/// last of them has ended, redirects included.
final class SessionOwner: Sendable {
    let settings: SessionSettings
    let timers: any Timers
    let session: LiveSession

    private let inFlight = Locked(InFlightState<Exchange, DispatchGroup>())
    private let numbers = Atomic<UInt64>(0)
    private let deadlines: DeadlineWatch

    init(_ settings: SessionSettings, sharing shared: URLSession? = nil, timers: any Timers) {
        self.settings = settings
        self.timers = timers
        deadlines = DeadlineWatch(timers) { [inFlight] now in
            inFlight.withLock { $0.all }.compactMap { $0.deadline(after: now) }.min()
        }
        session = LiveSession(settings.configuration, sharing: shared)
    }

    /// The session for a request.
    ///
    /// On a kept connection that turns out to be dead, libcurl sends a request without a body again, whatever its method,
    /// although the server may have acted on it. A request that may not be repeated gets a session of its own, which has no
    /// kept connection. With a body, the session asks first; see ``Exchange/bodyIsNeededAgain()``.
    func session(for method: HTTPMethod, hasBody: Bool) -> LiveSession {
        #if canImport(FoundationNetworking)
            if !method.isIdempotent, !hasBody { return LiveSession(settings.configuration) }
        #endif
        return session
    }

    func nextNumber() -> UInt64 { numbers.wrappingAdd(1, ordering: .relaxed).oldValue }
}

// MARK: - Exchanges in flight

extension SessionOwner {
    var count: Int { inFlight.withLock { $0.count } }

    /// Registers an exchange until its end; false if it may not begin, because a reset waits for others.
    func admit(_ exchange: Exchange) -> Bool {
        inFlight.withLock { $0.admit(exchange, number: exchange.number) }
    }

    func watch(_ deadline: TimerInstant) { deadlines.note(deadline) }

    func ended(_ exchange: Exchange) {
        for group in inFlight.withLock({ $0.end(exchange.number) }) { group.leave() }
    }

    /// Cancels all exchanges, and leaves `group` when the last of them has ended.
    func cancelAll(in group: DispatchGroup) {
        group.enter()
        guard let waitedFor = inFlight.withLock({ $0.begin(group) }) else { return group.leave() }
        for exchange in waitedFor { exchange.stop(.cancelled) }
    }

    /// Leaves `group` although exchanges have not ended, and admits others again.
    func giveUp(_ group: DispatchGroup) {
        for group in inFlight.withLock({ $0.giveUp { $0 === group } }) { group.leave() }
    }
}
