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
        let grade = AvailabilityStrip.grade(total)
        return "<div class=\"tiles\">"
            + tile(NumberText.count(total.count), "requests")
            + tile(total.goodShare, "good", "is-" + grade)
            + tile(total.latency.quantileText(0.5), "median")
            + tile(total.latency.quantileText(0.9), "90 % within")
            + tile(total.latency.quantileText(0.99), "99 % within") + "</div>"
    }

    private var overview: String {
        var rows = [
            HTMLText.row(
                ["host", "route", "requests", "good", "p50", "p90", "p99", "max", "failed"], head: true)
        ]
        for (key, route) in model.hosts.flatMap(\.routes) {
            let total = route.total
            let grade = AvailabilityStrip.grade(total)
            let times = [0.5, 0.9, 0.99, 1].map { total.latency.quantileText($0) }
            let cells = [
                HTMLText.escape(key.host), Self.name(key), NumberText.count(total.count),
                "<span class=\"dot \(grade)\"></span>\(total.goodShare)",
            ]
            rows.append(HTMLText.row(cells + times + ["<span class=\"faint\">\(total.failures)</span>"]))
        }
        return
            "<div class=\"scroll\"><table class=\"overview\" id=\"overview\">\(rows.joined(separator: "\n"))</table></div>"
    }

    private func card(_ key: ReportModel.Key, _ route: ReportModel.Route) -> String {
        let total = route.total
        return [
            "<article class=\"card\">", "<h3>\(Self.name(key))</h3>",
            "<p class=\"faint\">\(NumberText.count(total.count, "request")), "
                + "\(total.goodShare) good, median \(total.latency.quantileText(0.5))</p>",
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
        let drawn = "Drawn by apihealth from \(NumberText.count(model.total.count, "request"))."
        let lines = [drawn] + model.omissions(HTMLText.escape)
        return "<footer class=\"faint\">\(lines.joined(separator: "<br>"))</footer>"
    }

    private static func name(_ key: ReportModel.Key) -> String {
        "<span class=\"method\">\(HTMLText.escape(key.method))</span> \(HTMLText.escape(key.route))"
    }
}

enum HTMLText {
    static func escape(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return Plain.text(escaped)
    }

    static func row(_ cells: [String], head: Bool = false) -> String {
        let tag = head ? "th" : "td"
        return "<tr>" + cells.map { "<\(tag)>\($0)</\(tag)>" }.joined() + "</tr>"
    }

    /// A coordinate in an SVG picture.
    static func place(_ value: Double) -> String { NumberText.text(value, digits: 1) }
}

/// The style sheet, for light and dark mode.
private enum ReportStyle {
    static let sheet = """
        :root{color-scheme:light dark;--back:#f6f7f9;--card:#fff;--text:#1b2330;--faint:#667085;--line:#e4e7ec;\
        --accent:#2f6fde;--good:#2b9a66;--fair:#e0a800;--poor:#e07b39;--down:#d33f49}
        @media(prefers-color-scheme:dark){:root{--back:#10141b;--card:#181e28;--text:#e6eaf0;--faint:#93a0b4;--line:#2a3342;\
        --accent:#6ea2ff;--good:#43b883;--fair:#e5b93c;--poor:#ea9355;--down:#ec6a72}}
        *{box-sizing:border-box}
        body{margin:0;background:var(--back);color:var(--text);\
        font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif;font-variant-numeric:tabular-nums}
        main{max-width:1160px;margin:0 auto;padding:28px 20px 60px}
        h1{font-size:26px;margin:0}h2{font-size:19px;margin:34px 0 12px}h3{font-size:16px;margin:0}
        p{margin:2px 0 0}.faint{color:var(--faint)}.method{color:var(--faint);font-weight:500}
        .tiles{display:flex;flex-wrap:wrap;gap:12px;margin:22px 0}
        .tile{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:12px 18px;flex:1 1 130px}
        .tile b{display:block;font-size:24px;line-height:1.25}.tile span{color:var(--faint);font-size:13px}
        .is-good b{color:var(--good)}.is-fair b{color:var(--fair)}.is-poor b{color:var(--poor)}.is-down b{color:var(--down)}
        .scroll{overflow-x:auto}
        table{border-collapse:collapse;width:100%}
        th{text-align:left;font-weight:500;color:var(--faint);font-size:13px}
        th,td{padding:7px 12px;border-bottom:1px solid var(--line);white-space:nowrap}
        .overview{background:var(--card);border:1px solid var(--line);border-radius:12px;border-collapse:separate;border-spacing:0}
        .overview tr:last-child td{border-bottom:0}
        .overview td:nth-child(n+3):not(:last-child),.overview th:nth-child(n+3):not(:last-child){text-align:right}
        .dot{display:inline-block;width:9px;height:9px;border-radius:50%;margin-right:7px;background:var(--line)}
        .dot.good,.cell.good{background:var(--good);fill:var(--good)}.dot.fair,.cell.fair{background:var(--fair);fill:var(--fair)}
        .dot.poor,.cell.poor{background:var(--poor);fill:var(--poor)}.dot.down,.cell.down{background:var(--down);fill:var(--down)}
        .cell.none{fill:var(--line)}
        .card{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:16px 18px;margin:0 0 14px}
        .pictures{display:flex;flex-wrap:wrap;gap:8px 28px;align-items:flex-end;margin-top:10px}
        figure{margin:0;flex:1 1 300px}figure:first-child{flex:2.3 1 520px}
        figcaption{font-size:12px;color:var(--faint);margin-top:4px}
        svg{display:block;width:100%;height:auto;overflow:visible}
        .grid{stroke:var(--line);stroke-width:1}.label,.count{fill:var(--faint);font-size:11px}
        .end{text-anchor:end}.middle{text-anchor:middle}
        .band{fill:var(--accent);opacity:.16}
        polyline{fill:none;stroke-linejoin:round;stroke-linecap:round;stroke:var(--accent)}
        .p50{stroke-width:2.2}.p90{stroke-width:1;opacity:.55}.p99{stroke-width:1;opacity:.7;stroke-dasharray:3 3}
        .alone{stroke-width:5;stroke-dasharray:none}
        .bar{fill:var(--accent)}
        .key{display:inline-block;width:16px;vertical-align:middle;margin:0 5px 0 10px;border-top:2.5px solid var(--accent)}
        .k50{margin-left:0}.k90{border-top-width:7px;opacity:.3}.k99{border-top-width:1.5px;border-top-style:dashed}
        details{margin-top:12px}summary{cursor:pointer;color:var(--faint);font-size:13px}
        .figures,.spread{font-size:12px;margin-top:8px;width:auto}.figures td,.spread td,.figures th,.spread th{padding:3px 12px}
        footer{margin-top:30px;font-size:13px}
        """
}
