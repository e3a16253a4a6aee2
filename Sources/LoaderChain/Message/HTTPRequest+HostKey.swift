extension HTTPRequest {
    /// The host in lower case, so that all spellings of a host are one key; empty while no loader has filled it in.
    var hostKey: String { storage.hostKey }
}

extension HTTPRequest.Storage {
    var hostKey: String {
        guard let host = address.host else { return "" }
        // Most hosts are in lower case already, and looking is cheaper than copying.
        let isLowercase = host.utf8.withContiguousStorageIfAvailable(ASCII.isLowercase)
        return isLowercase ?? false ? host : host.lowercased()
    }
}
