import Foundation
import LoaderChain

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What a loader was made with, in the form in which it is used.
struct SessionSettings: @unchecked Sendable {
    // Never changed after the copy was made, which is what makes it sendable.
    let configuration: URLSessionConfiguration
    /// Header fields for every request.
    ///
    /// They are ours to add, because the session would send them to every host.
    let headers: HTTPHeaders
    /// How long nothing may arrive and nothing be sent.
    let timeout: Duration
    /// How long everything may take together.
    let resourceTimeout: Duration
    let responseSizeLimit: Int
    let serverTrust: ServerTrust

    init(_ configuration: URLSessionConfiguration, responseSizeLimit: Int, serverTrust: ServerTrust) {
        let copy = (configuration.copy() as? URLSessionConfiguration) ?? configuration
        headers = HTTPHeaders(
            (copy.httpAdditionalHeaders ?? [:]).compactMap { name, value in
                (name.base as? String).map { .init($0, "\(value)") }
            }.sorted { $0.name < $1.name })
        copy.httpAdditionalHeaders = nil
        #if canImport(FoundationNetworking)
            // With a cache, a cancel that meets the end of its task traps in the session.
            copy.urlCache = nil
            copy.urlCredentialStorage = nil
        #endif
        timeout = .seconds(clamping: copy.timeoutIntervalForRequest)
        resourceTimeout = .seconds(clamping: copy.timeoutIntervalForResource)
        self.configuration = copy
        self.responseSizeLimit = max(0, responseSizeLimit)
        self.serverTrust = serverTrust
    }
}

extension Duration {
    /// Seconds as the platform gives them, where anything beyond a year is as good as endless.
    fileprivate static func seconds(clamping seconds: Double) -> Duration {
        seconds.isNaN ? .seconds(60) : .seconds(min(max(seconds, 0), 365 * 86_400))
    }
}
