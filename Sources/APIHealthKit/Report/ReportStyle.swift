/// The style sheet, for light and dark mode.
enum ReportStyle {
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
