import LoaderChainPlatformFoundation

/// A token endpoint, and the requests to it: RFC 6749, section 3.2.
struct TokenEndpoint: Sendable {
    let url: URL
    let client: OAuthClient
    let scope: String?

    /// Exchanges the fields for a token.
    func token(for fields: FormBody, using chain: RestOfChain) async throws -> BearerToken {
        let response: HTTPResponse
        do {
            response = try await chain(request(with: fields))
        } catch var error as HTTPError {
            // The response may contain a token, and errors are logged.
            error.response?.body = Data()
            throw error
        }
        return try TokenAnswer.token(in: response)
    }

    private func request(with fields: FormBody) throws(HTTPError) -> HTTPRequest {
        var request = HTTPRequest(method: .post, url: url, headers: ["Accept": "application/json"])
        guard request.isConfidential else {
            throw HTTPError(
                .insecureConnection, request: request, reason: "Secrets are not sent over plain HTTP; use https")
        }
        var form = fields
        if let scope { form.append(scope, for: "scope") }
        do {
            try client.sign(&form, &request.headers)
        } catch {
            throw HTTPError(.invalidRequest, request: request, reason: "The client's name and secret cannot be sent")
        }
        request.body = SecretForm(form: Secret(form))
        request.hidesBodies = true
        // An error of the standard is a response to read, whatever the loaders below demand of other responses.
        request.responseCheck = .nothing
        return request
    }
}

/// A form that a dump of the request does not show.
private struct SecretForm: HTTPBody {
    let form: Secret<FormBody>

    var isEmpty: Bool { form.value.isEmpty }
    var additionalHeaders: HTTPHeaders { form.value.additionalHeaders }
    func encode() -> HTTPBodyContent { form.value.encode() }
}
