// Options: what a request may ask of this terminal. It uses no other folder.

import Foundation
import LoaderChain

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The cache policy of a request; nil, the default, for the one of the session's configuration.
public enum CachePolicyOption: HTTPRequestOption {
    /// The policy of the configuration.
    public static var defaultOptionValue: URLRequest.CachePolicy? { nil }
}

extension HTTPRequest {
    /// The cache policy of the request; nil for the one of the session's configuration.
    ///
    /// There is no cache on Linux, so a request that accepts nothing but cached data fails there.
    public var cachePolicy: URLRequest.CachePolicy? {
        get { self[option: CachePolicyOption.self] }
        set { self[option: CachePolicyOption.self] = newValue }
    }
}
