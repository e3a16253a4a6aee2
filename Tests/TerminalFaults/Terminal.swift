import Foundation
import LoaderChain
import LoaderChainCurl
import LoaderChainURLSession

/// Whether the terminal is the one over libcurl.
let isCurl = ProcessInfo.processInfo.environment["TERMINAL"] == "curl"

/// The terminal that is tested.
func makeTerminal(responseSizeLimit: Int = URLSessionLoader.defaultResponseSizeLimit) -> HTTPLoader {
    #if os(Linux)
        if isCurl { return CurlLoader(responseSizeLimit: responseSizeLimit) }
    #endif
    return URLSessionLoader(configuration: .ephemeral, responseSizeLimit: responseSizeLimit)
}
