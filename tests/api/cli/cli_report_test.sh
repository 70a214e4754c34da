#!/usr/bin/env bash
# cli_report_test.sh FILCH: the report in a browser, on a narrow and on a wide screen, in light and dark mode.
set -euo pipefail
filch=$1
# shellcheck source=tests/api/cli/lib.sh
. "${BASH_SOURCE[0]%/*}/lib.sh"
# shellcheck source=tests/api/cli/lab_lib.sh
. "${BASH_SOURCE[0]%/*}/lab_lib.sh"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    echo 'skipped: chromium is not installed (Debian: chromium)'
    exit 77
}
if ! command -v gnuplot >/dev/null; then
    echo 'skipped: gnuplot is not installed (Debian: gnuplot-nox)'
    exit 77
fi
if ! command -v python3 >/dev/null; then
    echo 'skipped: python3 is not installed'
    exit 77
fi

export FILCH_BENCH_DIR=$lab_programs
pretend_programs
runs lab all --out "$work/out" --workers 2 --repeat 2
figures=$(find "$work/out/charts" -name '*.svg' | wc -l)
[ "$figures" -ge 5 ] || fail "$figures figures"

# The report is self-contained: no script, no external resource.
grep -qiE '<script|@import|url\(|src=|https?://[^w]' "$work/out/report.html" && fail 'the report is not self-contained'

{
    sed 's,</body>,,; s,</html>,,' "$work/out/report.html"
    printf '<script>'
    cat -- "${BASH_SOURCE[0]%/*}/report_probe.js"
    printf '</script></body></html>'
} >"$work/out/probed.html"

# A browser window has a minimum width, so a narrow screen is a frame within it.
frame() {
    cat <<END
<!DOCTYPE html><meta charset="utf-8"><meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">
<body><iframe width="$1" height="900" style="border:0" src="probed.html"></iframe>
<script>
addEventListener("message", function (m) {
    var pre = document.createElement("pre");
    pre.id = "probe";
    pre.textContent = m.data;
    document.body.appendChild(pre);
});
</script></body>
END
}

# look WIDTH SCHEME: check the measurements of the page; scheme 0 is dark, 1 is light.
look() {
    frame "$1" >"$work/out/frame.html"
    HOME=$work timeout 600 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
        --hide-scrollbars --user-data-dir="$work/profile" --window-size=1500,1000 --blink-settings=preferredColorScheme="$2" \
        --enable-logging=stderr --dump-dom "file://$work/out/frame.html" >"$work/dom" 2>"$work/console" ||
        { tail -n 5 "$work/console" && fail 'the browser failed'; }
    ! grep -F 'CONSOLE' "$work/console" || fail 'the console is not empty'
    python3 - "$work/dom" "$1" "$2" "$figures" <<'END' || fail "the report at $1 pixels, scheme $2"
import html, json, re, sys
dom, width, scheme, figures = open(sys.argv[1]).read(), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
p = json.loads(html.unescape(re.search(r'<pre id="probe">(.*?)</pre>', dom, re.S).group(1)))
print(p)
assert p["width"] == width, "the window is as wide as was asked for"
assert p["overflow"] <= 0, "nothing sticks out of the page"
assert p["figures"] == p["drawn"] == figures, "each figure is seen, once"
assert p["svgs"] == p["described"] == 2 * figures, "each has a title and a description"
assert p["tables"] == p["captions"] > 0, "each table has a caption"
assert p["repeated"] == 0 and p["lost"] == 0, "ids are unique, links lead somewhere"
assert p["requests"] == 0, "nothing is fetched"
assert p["cut"] == [], "no words are cut off"
assert p["text"] >= 4.5 and p["labels"] >= 4.5 and p["bars"] >= 3, "it can be read"
assert p["page"] == ("rgb(255, 255, 255)" if scheme == "1" else "rgb(20, 23, 26)"), "the scheme is the one"
END
}

for width in 360 1400; do
    for scheme in 0 1; do look $width $scheme; done
done
printf 'the report passed\n'
