import Foundation
import LoaderChain

/// The HTML page: charts, and tables with the figures behind them.
struct ReportPage: Sendable {
    private let model: ReportModel
    private let title: String
    private let slots: ClosedRange<Int64>
    private let clock: ReportClock

    init(_ model: ReportModel, title: String) {
        self.model = model
        self.title = title
        slots = model.slots.range ?? 0...0
        clock = ReportClock(width: model.slots.width)
    }

    /// The page, which loads no other resource.
    var html: String {
        let name = HTMLText.escape(title)
        var parts = [
            "<!DOCTYPE html>", "<html lang=\"en\">", "<head>", "<meta charset=\"utf-8\">",
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">",
            // Whatever text a file contains, nothing is loaded and no script runs.
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            "<title>\(name)</title>", "<style>\(ReportStyle.sheet)</style>", "</head>", "<body>", "<main>",
            "<header><h1>\(name)</h1><p class=\"faint\">\(period)</p></header>", tiles, overview,
        ]
        for (host, routes) in model.hosts {
            parts.append("<section><h2>\(HTMLText.escape(host))</h2>")
            parts += routes.map { card($0.key, $0.route) }
            parts.append("</section>")
        }
        parts.append(footer)
        return (parts + ["</main>", "</body>", "</html>"]).joined(separator: "\n") + "\n"
    }

    private var period: String {
        guard let period = model.period else { return "no requests" }
        func text(_ nanoseconds: Int64) -> String {
            Date(timeIntervalSince1970: Double(nanoseconds) / 1e9).formatted(.iso8601).replacing("T", with: " ")
                .replacing("Z", with: "")
        }
        return "\(text(period.lowerBound)) to \(text(period.upperBound)) UTC, in steps of \(clock.words)"
    }

    private var tiles: String {
        let total = model.total
        func tile(_ value: String, _ name: String, _ grade: String = "") -> String {
            "<div class=\"tile \(grade)\"><b>\(value)</b><span>\(name)</span></div>"
        }
        let grade = AvailabilityStrip.grade(good: total.good, of: total.judged)
        return "<div class=\"tiles\">"
            + tile(NumberText.count(total.count), "requests")
            + tile(NumberText.percent(total.good, of: total.judged), "good", "is-" + grade)
            + tile(Self.time(total, 0.5), "median") + tile(Self.time(total, 0.9), "90 % within")
            + tile(Self.time(total, 0.99), "99 % within") + "</div>"
    }

    private var overview: String {
        var rows = [
            HTMLText.row(
                ["host", "route", "requests", "good", "p50", "p90", "p99", "max", "came to nothing"], head: true)
        ]
        for (key, route) in model.hosts.flatMap(\.routes) {
            let total = route.total
            let grade = AvailabilityStrip.grade(good: total.good, of: total.judged)
            rows.append(
                HTMLText.row([
                    HTMLText.escape(key.host), Self.name(key), NumberText.count(total.count),
                    "<span class=\"dot \(grade)\"></span>\(NumberText.percent(total.good, of: total.judged))",
                    Self.time(total, 0.5), Self.time(total, 0.9), Self.time(total, 0.99), Self.time(total, 1),
                    "<span class=\"faint\">\(total.failures)</span>",
                ]))
        }
        return
            "<div class=\"scroll\"><table class=\"overview\" id=\"overview\">\(rows.joined(separator: "\n"))</table></div>"
    }

    private func card(_ key: ReportModel.Key, _ route: ReportModel.Route) -> String {
        let total = route.total
        return [
            "<article class=\"card\">", "<h3>\(Self.name(key))</h3>",
            "<p class=\"faint\">\(NumberText.count(total.count, "request")), "
                + "\(NumberText.percent(total.good, of: total.judged)) good, median \(Self.time(total, 0.5))</p>",
            "<div class=\"pictures\"><figure>",
            LatencyChart(route.slots, in: slots, clock: clock).svg,
            AvailabilityStrip(tallies: route.slots, slots: slots, clock: clock).svg,
            "<figcaption><i class=\"key k50\"></i>half took longer <i class=\"key k90\"></i>one in ten "
                + "<i class=\"key k99\"></i>one in a hundred</figcaption></figure>",
            "<figure>", HistogramChart(route.bars).svg,
            "<figcaption>requests by duration</figcaption></figure></div>",
            "<details><summary>The figures</summary><div class=\"scroll\">", figures(route), spread(route),
            "</div></details>", "</article>",
        ].joined(separator: "\n")
    }

    /// The figures behind the charts over time.
    private func figures(_ route: ReportModel.Route) -> String {
        var rows = [
            HTMLText.row(["from (UTC)", "requests", "judged", "good", "p50 (s)", "p90 (s)", "p99 (s)"], head: true)
        ]
        for slot in route.slots.keys.sorted() {
            guard let tally = route.slots[slot] else { continue }
            rows.append(
                HTMLText.row(
                    [
                        "<time data-slot=\"\(slot)\">\(HTMLText.escape(clock.text(slot)))</time>", "\(tally.count)",
                        "\(tally.judged)", "\(tally.good)",
                    ] + [0.5, 0.9, 0.99].map { NumberText.text(LatencyChart.seconds(tally, $0) ?? 0, digits: 6) }))
        }
        return "<table class=\"figures\">\(rows.joined(separator: "\n"))</table>"
    }

    /// The figures behind the histogram.
    private func spread(_ route: ReportModel.Route) -> String {
        let rows = route.bars.counts.enumerated().map { HTMLText.row([HistogramChart.label($0), "\($1)"]) }
        return
            "<table class=\"spread\">\(HTMLText.row(["duration", "requests"], head: true))\n\(rows.joined(separator: "\n"))</table>"
    }

    private var footer: String {
        var lines = ["Drawn by apihealth from \(NumberText.count(model.total.count, "request"))."]
        if model.otherPoints > 0 {
            lines.append("Skipped, because they are not requests: \(NumberText.count(model.otherPoints, "point")).")
        }
        if model.badLines > 0 {
            lines.append(
                "Skipped, because they cannot be read: \(NumberText.count(model.badLines, "line")). The first:")
            lines += model.firstProblems.map(HTMLText.escape)
        }
        return "<footer class=\"faint\">\(lines.joined(separator: "<br>"))</footer>"
    }

    private static func name(_ key: ReportModel.Key) -> String {
        "<span class=\"method\">\(HTMLText.escape(key.method))</span> \(HTMLText.escape(key.route))"
    }

    private static func time(_ tally: ReportModel.Tally, _ part: Double) -> String {
        tally.latency.quantile(part).map(DurationText.short) ?? "–"
    }
}
