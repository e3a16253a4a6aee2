import LoaderChainPlatformFoundation
import Testing

@testable import LoaderChain

@Suite(.timeLimit(.minutes(10))) struct HTTPMetricOpenTelemetryTests {
    @Test func metricHasAttributesOfConventions() {
        let metric = HTTPMetric(
            start: Date(timeIntervalSince1970: 0), duration: .seconds(1), method: .post, host: "a.test", port: 443,
            route: "/users/{id}", attempts: 3, bytesSent: 10, bytesReceived: 20, networkProtocol: "h2", status: 503,
            outcome: .response(503))
        #expect(
            metric.openTelemetryAttributes == [
                "http.request.method": "POST", "url.scheme": "https", "server.address": "a.test", "server.port": "443",
                "url.template": "/users/{id}", "http.response.status_code": "503", "error.type": "503",
                "http.request.resend_count": "2", "http.request.body.size": "10", "http.response.body.size": "20",
                "network.protocol.name": "http", "network.protocol.version": "2",
            ])
    }

    @Test func unknownValuesAreLeftOut() {
        let metric = HTTPMetric(
            start: Date(timeIntervalSince1970: 0), duration: .seconds(1), host: "a.test", route: "/",
            outcome: .response(.ok))
        #expect(
            Set(metric.openTelemetryAttributes.keys)
                == ["http.request.method", "url.scheme", "server.address", "url.template"])
    }

    @Test func unknownMethodIsReportedAsOther() {
        var metric = HTTPMetric(
            start: Date(timeIntervalSince1970: 0), duration: .zero, host: "a", route: "/", outcome: .cancelled)
        for method: HTTPMethod in ["get", "PURGE", ""] {
            metric.method = method
            let attributes = metric.openTelemetryAttributes
            #expect(attributes["http.request.method"] == "_OTHER", "\(method)")
            #expect(attributes["http.request.method_original"] == method.rawValue)
        }
        metric.method = "QUERY"
        #expect(metric.openTelemetryAttributes["http.request.method"] == "QUERY")
        #expect(metric.openTelemetryAttributes["http.request.method_original"] == nil)
    }

    @Test(arguments: [
        ("http/1.1", "http", "1.1"), ("HTTP/1.0", "http", "1.0"), ("h3", "http", "3"), ("spdy", "spdy", nil),
    ])
    func protocolIsSplitIntoNameAndVersion(text: String, name: String, version: String?) {
        var metric = HTTPMetric(
            start: Date(timeIntervalSince1970: 0), duration: .zero, host: "a", route: "/", outcome: .cancelled)
        metric.networkProtocol = text
        let attributes = metric.openTelemetryAttributes
        #expect(attributes["network.protocol.name"] == name && attributes["network.protocol.version"] == version)
    }

    /// Since version 1.41 of the conventions.
    @Test(arguments: [HTTPMetric.Outcome.cancelled, .reset])
    func cancelAndResetAreNotReportedAsErrors(_ outcome: HTTPMetric.Outcome) {
        let metric = HTTPMetric(
            start: Date(timeIntervalSince1970: 0), duration: .zero, host: "a", route: "/", outcome: outcome)
        #expect(metric.openTelemetryAttributes["error.type"] == nil)
        #expect(outcome.errorType != nil)
    }

    /// The author of a sink goes by the guide's table.
    @Test func guideListsEveryAttribute() throws {
        let guide = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../../Documentation/Metrics.md").standardizedFileURL
        let text = try String(contentsOf: guide, encoding: .utf8)
        var metric = HTTPMetric(
            start: Date(timeIntervalSince1970: 0), duration: .seconds(1), host: "a.test", port: 443, route: "/",
            attempts: 3, bytesSent: 10, bytesReceived: 20, networkProtocol: "h2", status: 503, outcome: .response(503))
        metric.method = "PURGE"
        for name in metric.openTelemetryAttributes.keys {
            #expect(text.contains("| `\(name)` |"), "\(name)")
        }
    }
}
