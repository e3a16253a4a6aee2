import Foundation
import LoaderChain

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension HTTPHeaders {
    /// The fields of a response, sorted by name: the session does not keep the order in which they arrived.
    init(_ response: HTTPURLResponse) {
        var fields: [Field] = []
        fields.reserveCapacity(response.allHeaderFields.count)
        for (name, value) in response.allHeaderFields {
            guard let name = name.base as? String else { continue }
            fields.append(Field(name, value as? String ?? "\(value)"))
        }
        self.init(fields.sorted { $0.name < $1.name })
    }
}
