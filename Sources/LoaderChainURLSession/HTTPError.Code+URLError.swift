import Foundation
import LoaderChain

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension HTTPError.Code {
    /// Translates an error of the session; `afterHead` says that the head of a response had arrived.
    init(_ error: URLError, afterHead: Bool) {
        self =
            switch error.code {
            case .cannotConnectToHost where Self.isOnLinux:
                // Also if the first of several addresses has refused, and the connection to another one was lost.
                error.codeByMessage(afterHead: afterHead)
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
                // The request's scheme was checked before; on Linux, this error is a response that is not HTTP.
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
                HTTPError.Code(systemError: error.code.rawValue, afterHead: afterHead) ?? .unknown
            }
    }

    /// Translates the number of an error of the system; nil if it is none of the network or the disk.
    init?(systemError number: Int, afterHead: Bool) {
        switch POSIXError.Code(rawValue: Int32(clamping: number)) {
        case .ECONNABORTED, .ECONNRESET, .EHOSTUNREACH, .ENETDOWN, .ENETUNREACH, .ENOTCONN, .EPIPE, .ESHUTDOWN,
            .ETIMEDOUT:
            // Some of them may come while connecting, but then nobody can know that nothing was sent.
            self = .connectionLost
        case .EADDRNOTAVAIL, .ECONNREFUSED, .EHOSTDOWN, .EMFILE, .ENFILE, .ENOBUFS, .ENOMEM:
            self = afterHead ? .connectionLost : .cannotConnect
        case .EBADMSG, .EPROTO: self = .invalidResponse
        case .EDQUOT, .ENOSPC: self = .cannotStoreResponse
        default: return nil
        }
    }

    /// The reason of the failure, for messages; nil if the code is sufficient.
    ///
    /// The text is libcurl's or the system's. It contains hosts and certificates, never a path or a query.
    fileprivate func reason(of failure: URLError) -> String? {
        guard self == .insecureConnection || self == .cannotConnect else { return nil }
        let words = failure.localizedDescription.prefix(300)
        return words.isEmpty ? nil : words.split(whereSeparator: \.isNewline).joined(separator: " ")
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
    /// The code according to libcurl's message, for errors whose own code says nothing on Linux.
    fileprivate func codeByMessage(afterHead: Bool) -> HTTPError.Code {
        let message = localizedDescription
        func says(_ phrases: [String]) -> Bool { phrases.contains(where: message.contains) }
        if says(Self.refusals) { return .invalidRequest }
        // The system's reason follows in the message, and may look like a lost connection.
        if !afterHead, says(Self.failedConnects) { return .cannotConnect }
        if says(Self.losses) { return afterHead || !says(Self.handshakes) ? .connectionLost : .cannotConnect }
        if says(Self.missingConnections) { return afterHead ? .connectionLost : .cannotConnect }
        if says(Self.insecurities) { return afterHead ? .connectionLost : .insecureConnection }
        // The remaining errors are malformed responses.
        return .invalidResponse
    }

    private static let refusals = ["aborted by a callback"]

    /// The connection failed, for a reason of the system.
    private static let failedConnects = ["Failed to connect", "Couldn't connect"]

    /// An established connection was lost: libcurl's receive, send and stream errors, and the system's messages for them.
    private static let losses = [
        "transfer closed", "end of response with", "Empty reply from server", "Server returned nothing", "Recv failure",
        "Send failure", "receiving data from the peer",
        "sending data to the peer",
        "Failed sending", "Transferred a partial file", "data rewind", "Connection died", "Connection reset",
        "Broken pipe",
        "SSL_ERROR_SYSCALL", "HTTP/2 framing layer", "HTTP2 framing layer", "was not closed cleanly", "was reset",
        "HTTP/2 stream", "HTTP/3", "unexpected eof", "Connection timed out",
    ]

    /// Parts of the messages for errors of the handshake, after which the connection was never usable.
    private static let handshakes = ["SSL_connect", "SSL connect", "TLS connect", "in connection to", "handshake"]

    /// The connection failed: no route, no permission, no descriptors, no name, or a proxy that rejected it.
    private static let missingConnections =
        failedConnects + [
            "Could not connect", "Connection refused", "Could not resolve", "Couldn't resolve", "getaddrinfo",
            "Couldn't open socket", "Couldn't bind", "bind failed", "No route to host",
            "Network is unreachable", "Host is unreachable", "Permission denied", "Operation not permitted",
            "Too many open files", "No buffer space", "CONNECT", "SOCKS", "Proxy handshake",
        ]

    private static let insecurities = ["SSL", "TLS", "certificate"]
}

extension TransferFailure {
    /// The failure of a task that the session ended.
    init(_ error: any Error, of request: HTTPRequest, afterHead: Bool) {
        guard let failure = error as? URLError else {
            // A connection that broke off while the app was suspended is such an error.
            let number = (error as? POSIXError).map { Int($0.code.rawValue) } ?? 0
            let code = HTTPError.Code(systemError: number, afterHead: afterHead)
            self.init(code ?? .unknown, nil, underlyingError: error)
            return
        }
        let code = HTTPError.Code(failure, afterHead: afterHead)
        let reason =
            if afterHead, code == .connectionLost {
                "The body is incomplete"
            } else if failure.code == .badURL, request.host?.contains(":") == true {
                "URLSession rejects IPv6 addresses on this platform; use a host name, or another terminal"
            } else {
                code.reason(of: failure)
            }
        self.init(code, reason, underlyingError: error)
    }
}
