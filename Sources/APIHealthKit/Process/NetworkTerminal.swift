import Foundation
import LoaderChain
import LoaderChainTerminal

/// The terminal of the program's chains: what it tells is about servers, so it has no cache.
func makeTerminal(requestsPerHost: Int = 64, timers: any Timers = SystemTimers.shared) -> SystemTerminal {
    #if os(Linux)
        return SystemTerminal(requestsPerHost: requestsPerHost, timers: timers)
    #else
        let configuration = URLSessionConfiguration.ephemeral
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        return SystemTerminal(configuration: configuration, requestsPerHost: requestsPerHost, timers: timers)
    #endif
}
