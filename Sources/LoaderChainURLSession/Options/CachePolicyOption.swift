import Foundation
import LoaderChain

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What the session's cache may do for a request; nil, the default, for what its configuration says.
public enum CachePolicyOption: HTTPRequestOption {
    /// What the configuration says.
    public static var defaultOptionValue: URLRequest.CachePolicy? { nil }
}

extension HTTPRequest {
    /// What the session's cache may do for the request; nil for what its configuration says.
    ///
    /// There is no cache on Linux: a request that asks for cached data and nothing else fails there.
    public var cachePolicy: URLRequest.CachePolicy? {
        get { self[option: CachePolicyOption.self] }
        set { self[option: CachePolicyOption.self] = newValue }
    }
}
