import LoaderChain

/// A program that needs only the core.
@main
enum Small {
    static func main() async throws {
        let chain = ClosureLoader("greeting") { request, _ in HTTPResponse(request: request, status: .ok) }
        let response = try await chain.load(HTTPRequest(host: "example.com"))
        print("\(chain): \(response.status)")
    }
}
