import Foundation
import LoaderChain

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension HTTPError.Code {
    /// What an error of the session's is called here.
    ///
    /// - Parameter afterHead: whether the head of a response had arrived.
    init(_ error: URLError, afterHead: Bool) {
        self =
            switch error.code {
            case .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .notConnectedToInternet, .dataNotAllowed,
                .internationalRoamingOff, .callIsActive, .resourceUnavailable:
                .cannotConnect
            case .networkConnectionLost:
                .connectionLost
            case .timedOut:
                .timedOut
            case .cancelled, .userCancelledAuthentication:
                .cancelled
            case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
                .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
                .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
                .insecureConnection
            case .httpTooManyRedirects:
                .tooManyRedirects
            case .dataLengthExceedsMaximum:
                .responseTooLarge
            case .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData, .zeroByteResource,
                .redirectToNonExistentLocation, .userAuthenticationRequired:
                .invalidResponse
            case .badServerResponse:
                // On Linux, a connection that ended without a byte.
                Self.isOnLinux ? .connectionLost : .invalidResponse
            case .unsupportedURL:
                // The request was checked before; on Linux this is an answer that is not HTTP.
                Self.isOnLinux ? .invalidResponse : .invalidRequest
            case .badURL, .requestBodyStreamExhausted, .fileDoesNotExist, .fileIsDirectory, .noPermissionsToReadFile,
                .backgroundSessionRequiresSharedContainer, .backgroundSessionInUseByAnotherProcess:
                .invalidRequest
            case .cannotCreateFile, .cannotOpenFile, .cannotCloseFile, .cannotWriteToFile, .cannotRemoveFile,
                .cannotMoveFile, .downloadDecodingFailedMidStream, .downloadDecodingFailedToComplete:
                .cannotStoreResponse
            case .backgroundSessionWasDisconnected:
                .connectionLost
            case .unknown where Self.isOnLinux:
                error.codeByItsWords(afterHead: afterHead)
            default:
                .unknown
            }
    }

    private static var isOnLinux: Bool {
        #if canImport(FoundationNetworking)
            true
        #else
            false
        #endif
    }
}

extension URLError {
    /// What the transport's own words say, where the session on Linux has no number for it.
    fileprivate func codeByItsWords(afterHead: Bool) -> HTTPError.Code {
        let words = localizedDescription
        if words.contains("transfer closed") { return .connectionLost }
        if words.contains("aborted by a callback") { return .invalidRequest }
        if ["SSL", "TLS", "certificate"].contains(where: words.contains) {
            return afterHead ? .connectionLost : .insecureConnection
        }
        // Bytes that are not what they ought to be.
        return .invalidResponse
    }
}
