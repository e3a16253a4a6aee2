import LoaderChain
import LoaderChainPlatformFoundation

/// Checks that a request may be written down.
///
/// Secrets are refused and not silently left out: a report without them would be turned away by the server, days later and
/// for no visible reason. Authorization belongs to the chain, which adds it whenever a report is sent.
struct RequestCheck: Sendable {
    let harmlessNames: Set<String>

    init(_ settings: OutboxSettings) {
        harmlessNames = Set(settings.harmlessNames.map { $0.lowercased() })
    }

    func check(_ request: HTTPRequest) throws(OutboxError) {
        guard request.method.isToken else {
            throw OutboxError(.request, "The method is not valid; use letters, as in POST.")
        }
        do { try request.headers.validate() } catch { throw OutboxError(.request, "\(error)") }
        for field in request.headers where isSecret(field.name) {
            throw OutboxError(
                .secret,
                """
                The header “\(field.name)” sounds like a secret, and a box writes none down; let a loader of the chain add it, \
                or name it in the settings' harmlessNames.
                """)
        }
        for item in request.queryItems where isSecret(item.name) {
            throw OutboxError(
                .secret,
                """
                The query item “\(item.name)” sounds like a secret, and a box writes none down; let a loader of the chain add \
                it, or name it in the settings' harmlessNames.
                """)
        }
        // The text shows a user and a password as well, and making a URL costs more than all the rest.
        if request.loggableURL.hasPrefix(request.scheme + "://redacted@") {
            throw OutboxError(
                .secret, "The URL carries a user or a password, and a box writes none down; let the chain authorize it."
            )
        }
    }

    private func isSecret(_ name: String) -> Bool {
        HTTPHeaders.isSecret(name) && !harmlessNames.contains(name.lowercased())
    }
}
