import Foundation
import LoaderChain

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension HTTPError.Code {
    /// Translates an error of the session.
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
                // On Linux, a connection that closed without sending a byte.
                Self.isOnLinux ? .connectionLost : .invalidResponse
            case .unsupportedURL:
                // The request's scheme was checked before it was sent; on Linux this is a reply that is not HTTP.
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
                error.codeByMessage(afterHead: afterHead)
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
    /// The code that libcurl's message implies, for errors that the session on Linux only knows as `unknown`.
    fileprivate func codeByMessage(afterHead: Bool) -> HTTPError.Code {
        let message = localizedDescription
        if message.contains("transfer closed") { return .connectionLost }
        if message.contains("aborted by a callback") { return .invalidRequest }
        if ["SSL", "TLS", "certificate"].contains(where: message.contains) {
            return afterHead ? .connectionLost : .insecureConnection
        }
        // What remains are malformed replies.
        return .invalidResponse
    }
}
