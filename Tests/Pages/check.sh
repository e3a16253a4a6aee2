#!/usr/bin/env bash
# Makes a report of the demo and renders it in a real browser, which compares its charts with its tables.
#
#   Tests/Pages/check.sh PROGRAM     PROGRAM is apihealth, built
#
# Without Chromium the step says so and passes; on Debian the package is chromium.
set -euo pipefail
program=$(realpath "${1:?Give the path of apihealth}")
cd "$(dirname "$0")"

browser=
for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null; then browser=$name; break; fi
done
if [ -z "$browser" ]; then
    echo "There is no Chromium here, so the pages are not looked at."
    exit 0
fi
command -v python3 >/dev/null || { echo "There is no program 'python3'." >&2; exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$program" --seconds 3 --json --file "$folder/demo.lp" >/dev/null
# A day of a route that fails at night, a route with one request, and a route whose name looks like a tag.
python3 - "$folder/day.lp" <<'PYTHON'
import random, sys
random = random.Random(5)
start = 1_700_000_000
with open(sys.argv[1], "w") as file:
    def line(route, second, outcome):
        duration = random.lognormvariate(-3, 1)
        file.write(f"APIHealth,host=day.example,method=GET,outcome={outcome},path={route} "
                   f"duration={duration} {second * 1_000_000_000 + random.randrange(10**9)}\n")
    for minute in range(0, 1440, 2):
        failed = 200 < minute < 320 and random.random() < 0.7
        line("/hourly", start + minute * 60, "server-error" if failed else "success")
    line("/rare", start + 3_000, "success")
    line("/rare", start + 80_000, "cancelled")
    line("/<b>&\\ \"quoted\"", start + 40_000, "failed")
PYTHON

look_at() {
    local page="$folder/$1.html" copy="$folder/$1-measured.html"
    "$program" report "$folder/$1.lp" --output "$page"
    # The page forbids all scripts, so the line that does is removed from the copy that is measured.
    python3 - "$page" measure.js "$copy" <<'PYTHON'
import re, sys
page, script = open(sys.argv[1]).read(), open(sys.argv[2]).read()
copy, count = re.subn(r'<meta http-equiv="Content-Security-Policy"[^>]*>\n', "", page)
assert count == 1, "the page does not forbid scripts"
open(sys.argv[3], "w").write(copy.replace("</body>", "<script>" + script + "</script></body>"))
PYTHON
    local result
    result=$("$browser" --headless --no-sandbox --disable-gpu --window-size="$2" --virtual-time-budget=10000 \
        --user-data-dir="$folder/profile" --dump-dom "file://$copy" 2>"$folder/log" |
        python3 -c 'import html, re, sys
found = re.search(r"<pre id=\"result\">(.*?)</pre>", sys.stdin.read(), re.S)
print(html.unescape(found.group(1)) if found else "the page was not laid out")')
    echo "$1 at $2: $result"
    [[ "$result" == *"comparisons hold" ]] || { tail -n 5 "$folder/log" >&2; exit 1; }
}

look_at demo 1280,900
look_at demo 480,900
look_at day 1280,900
