import Foundation
import LoaderChain

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension HTTPHeaders {
    /// The fields of a response, sorted by name: the session does not keep the order in which they arrived.
    ///
    /// The session joins fields of one name by commas. Those of `Set-Cookie` are taken apart again, since they have commas of their own.
    init(_ response: HTTPURLResponse) {
        var fields: [Field] = []
        fields.reserveCapacity(response.allHeaderFields.count)
        for (name, value) in response.allHeaderFields {
            guard let name = name.base as? String else { continue }
            let text = value as? String ?? "\(value)"
            if name.lowercased() == "set-cookie" {
                fields += JoinedCookies.separate(text).map { Field(name, $0) }
            } else {
                fields.append(Field(name, text))
            }
        }
        self.init(fields.sorted { $0.name < $1.name })
    }
}
