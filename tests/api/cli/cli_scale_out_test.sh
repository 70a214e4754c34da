#!/usr/bin/env bash
# cli_scale_out_test.sh FILCH: the table of `filch bench scale-out` for small sizes, its ratios of known figures from stub
# programs, and its errors.
set -euo pipefail
filch=$1
# shellcheck source=tests/api/cli/lib.sh
. "${BASH_SOURCE[0]%/*}/lib.sh"
if ! command -v python3 >/dev/null; then
    echo 'skipped: python3 is not installed'
    exit 77
fi
programs=${filch%/*}/programs
rows='fib tree loop sort channel'

# Usage errors.
rejects 'scale-out has its own table and cannot be combined with fib' bench fib scale-out
rejects 'scale-out has its own table and cannot be combined with jobs' bench jobs scale-out
rejects "unknown case 'scale-out' of fibers" bench fibers scale-out
rejects "unknown workload 'nqueens' of scale-out; choose from: fib, tree, loop, sort, channel, http" bench scale-out nqueens
rejects "unknown workload 'fibers' of scale-out" bench scale-out fibers
rejects 'scale-out is given twice' bench scale-out scale-out
rejects 'channel is given twice' bench scale-out channel channel
rejects '--size does not apply to scale-out' bench scale-out fib --size 5
rejects '--plot does not apply to scale-out' bench scale-out --plot a.svg
rejects '--runtimes does not apply to scale-out' bench scale-out --runtimes filch
rejects "(got '0')" bench scale-out --workers 0
rejects "(got '1025')" bench scale-out --workers 1,1025
rejects '--workers: 2 is given twice' bench scale-out --workers 2,1,2
rejects 'scale-out: --workers needs a number up to the number of CPUs (' bench scale-out --workers 1023,1024
rejects "unknown workload 'loop'; choose from: fib," bench loop
runs bench --help
stdout_has 'filch bench scale-out [WORKLOAD...] [OPTION...]'
runs help bench scale-out
for row in $rows http; do stdout_has "  $row "; done
stdout_has '(1,2,4,8,16,64)'

# check_table CPUS WORKERS TITLES: compare the table on stdin with itself: each ratio is the quotient of the times, and the
# base is the row with the lowest median wall time of those with at most CPUS workers.
cat >"$work/check_table.py" <<'END'
import sys
cpus, workers, titles = int(sys.argv[1]), sys.argv[2].split(","), sys.argv[3].split("/")
text = sys.stdin.read()
assert max(map(len, text.split("\n"))) <= 100, "a line has more than 100 columns"
blocks = text.split("\n\n")
head, blocks[0] = blocks[0].split("\n", 1)
assert head.split() == "workload workers wall best ratio best CPU best ratio best".split(), head

def quotient(shown, a, b):
    # The times themselves are rounded, to a hundredth or, from 100, to a tenth.
    e, f = (0.0051 if t < 100 else 0.051 for t in (a, b))
    high = (a + e) / (b - f) if b > f else float("inf")
    assert (a - e) / (b + f) - 0.0051 <= shown <= high + 0.0051, (shown, a, b)

highest = {"wall": 0, "CPU": 0}
for title, block in zip(titles, blocks):
    lines = block.split("\n")
    assert lines[0].startswith(title) and [l[21:28].strip() for l in lines] == workers, block
    cells = [[float(c) for c in l[28:].split()] for l in lines]
    assert all(len(c) == 8 and min(c) >= 0 and c[1] <= c[0] and c[5] <= c[4] for c in cells), block
    fit = [c for w, c in zip(workers, cells) if int(w) <= cpus]
    low = min(c[0] for c in fit)
    base = next(c for c in fit if c[0] == low and c[2] == c[3] == c[6] == c[7] == 1)
    for w, c in zip(workers, cells):
        for at in 0, 1, 4, 5:
            quotient(c[at + 2], c[at], base[at])
        for name, at in ("wall", 2), ("CPU", 6):
            if int(w) > cpus:
                highest[name] = max(highest[name], c[at])
below = " ".join("\n".join(blocks[len(titles):]).split())
for name, ratio in highest.items():
    assert (ratio > 0) == ("%s %.2f: " % (name, ratio) in below), (name, ratio, below)
END
check_table() {
    printf '%s\n' "$stdout" | python3 "$work/check_table.py" "$@" || fail 'the table'
}

# The number of CPUs that the table names is the one that the command uses.
# shellcheck disable=SC2086  # words
runs bench scale-out $rows --quick --repeat 1 --workers 1,2,64
[ -z "$stderr" ] || fail 'prints to stderr without an error'
cpus=$(printf '%s\n' "$stdout" | sed -nE 's/.*more workers than CPUs \(([0-9]+)\).*/\1/p')
check_table "$cpus" 1,2,64 'fib, ms/tree, ms/loop, ms/sort, ms/channel, ns per item'

# JSON lines: every result is the same with any number of workers, and each sample has a CPU time.
# shellcheck disable=SC2086  # words
runs bench scale-out $rows --quick --repeat 2 --workers 2,1 --json
printf '%s\n' "$stdout" | python3 -c '
import json, sys
seen, results = [], {}
for line in map(json.loads, sys.stdin):
    name, metrics = line["workload"], line["metrics"]
    seen.append((name, line["workers"]))
    assert line["runtime"] == "filch" and not line["failed"], line
    assert results.setdefault(name, line["result"]) == line["result"], line
    for values in metrics.values():
        assert len(values) == len(line["samples"]) and min(values) >= 0, line
    assert set(metrics) == ({"cpu_ns", "wall_ns"} if "buffered" in name else {"cpu_ms"}), line
names = "fib", "tree", "loop", "sort-uniform", "fibers-buffered-4"
assert seen == [(n, w) for n in names for w in (2, 1)], seen
assert results["fib"] == 2178309, results
' || fail 'the JSON lines'

# The loop program, which checks its result by a formula.
for size in 1 7 2000; do
    stdout=$("$programs/loop-filch" -n "$size" -w 3 -r 2) || fail "loop-filch -n $size"
    stdout_has "\"size\":$size,\"workers\":3,"
done

# The server, if wrk is installed.
if [ -x "$programs/http-filch" ]; then
    runs bench scale-out http --quick --repeat 1 --workers 1,64
    check_table "$cpus" 1,64 'http, us per request'
else
    echo 'http is not measured: there is no wrk'
fi

# ---- stub programs with known figures ----
export FILCH_BENCH_DIR=$work/programs
mkdir -- "$FILCH_BENCH_DIR"

# pretend PROGRAM METRICS SAMPLE: write a program that prints these metrics and this sample, which are words of a shell and
# may use $w, the number of workers.
pretend() {
    cat >"$FILCH_BENCH_DIR/$1-filch" <<END
#!/bin/sh
w=1 i= r=1
while getopts w:r:i:q o; do eval "\$o=\\\$OPTARG"; done
samples="$3" one="$3"
while [ \$r -gt 1 ]; do samples=\$samples,\$one r=\$((r - 1)); done
echo "{\"workload\":\"$1\${i:+-}\$i\",\"runtime\":\"filch\",\"size\":5,\"workers\":\$w,\"spawns\":5,\"result\":7," \
    "\"peak_kb\":100,\"metrics\":$2,\"samples\":[\$samples]}"
END
    chmod +x "$FILCH_BENCH_DIR/$1-filch"
}

# row TEXT: expect this line in the table, with any number of blanks between its words.
row() {
    printf '%s\n' "$stdout" | tr -s ' ' | sed 's/^ //; s/ $//' | grep -Fxq -- "$1" || fail "expected the row: $1"
}

fails 1 bench scale-out fib --workers 1
stderr_has 'cannot measure fib: no program fib-filch in'
[ -z "$stdout" ] || fail 'an empty table is printed'

# A workload that collapses with 1,024 workers.  Only the first row has a CPU for each worker.
# shellcheck disable=SC2016  # the stub programs expand these
pretend fib '{\"cpu_ms\":[$((2 * w))]}' '0.$((1000 + 4 * w))'
# shellcheck disable=SC2016
pretend fibers '{\"cpu_ns\":[$((8 + w))],\"wall_ns\":[$((5 + w / 2))]}' 1
runs bench scale-out fib channel --workers 1,1023,1024 --repeat 2
[ -z "$stderr" ] || fail 'prints to stderr without an error'
row 'fib, ms 1 100.4 100.4 1.00 1.00 2.00 2.00 1.00 1.00'
row '1023 509.2 509.2 5.07 5.07 2046.0 2046.0 1023.00 1023.00'
row '1024 509.6 509.6 5.08 5.08 2048.0 2048.0 1024.00 1024.00'
row 'channel, ns per item 1 5.00 5.00 1.00 1.00 9.00 9.00 1.00 1.00'
row '1024 517.0 517.0 103.40 103.40 1032.0 1032.0 114.67 114.67'
row 'wall 103.40: channel with 1024 workers'
row 'CPU 1024.00: fib with 1024 workers'
runs bench scale-out fib --workers 1 --repeat 1
stdout_has 'No ratio is for more workers than CPUs ('

# The base is the best row that has a CPU for each worker: with one CPU the first, otherwise the second.
# shellcheck disable=SC2016
pretend fib '{\"cpu_ms\":[$((2 * w))]}' '0.$((2000 - 400 * w))'
runs bench scale-out fib --workers 1,2 --repeat 1
if [ "$cpus" -gt 1 ]; then
    row 'fib, ms 1 160.0 160.0 1.33 1.33 2.00 2.00 0.50 0.50'
    row '2 120.0 120.0 1.00 1.00 4.00 4.00 1.00 1.00'
else
    row 'fib, ms 1 160.0 160.0 1.00 1.00 2.00 2.00 1.00 1.00'
    row '2 120.0 120.0 0.75 0.75 4.00 4.00 2.00 2.00'
fi

# The order of --workers is that of the rows.  A program that does not report its CPU time has a dash.
# shellcheck disable=SC2016
pretend fib '{\"other\":[1]}' '0.$((1000 + w))'
runs bench scale-out fib --workers 1024,1 --repeat 1
row 'fib, ms 1024 202.4 202.4 2.02 2.02 - - - -'
row '1 100.1 100.1 1.00 1.00 - - - -'

# The server is left out without wrk, with the reason.
echo 'http: wrk is not installed (Debian: wrk)' >"$FILCH_BENCH_DIR/left-out"
runs bench scale-out fib http --workers 1 --repeat 1
[ "$(printf '%s\n' "$stdout" | grep -c '^http: wrk is not installed (Debian: wrk)$')" -eq 1 ] || fail 'wrk is not named once'
runs bench scale-out fib http --workers 1 --repeat 1 --json
stderr_has 'http: wrk is not installed (Debian: wrk)'
fails 1 bench scale-out http --workers 1 --repeat 1
stderr_has 'filch: cannot measure http: wrk is not installed (Debian: wrk)'
[ -z "$stdout" ] || fail 'an empty table is printed'
pretend http '{\"cpu_us\":[4],\"wall_us\":[20],\"requests_s\":[50000]}' 1
runs bench scale-out http --workers 1 --repeat 1
row 'http, us per request 1 20.00 20.00 1.00 1.00 4.00 4.00 1.00 1.00'

# A failure is reported, and the other rows are shown.  Without the base there are no ratios.
# shellcheck disable=SC2016
printf '#!/bin/sh\necho wrong result >&2\n[ "$2" != %s ] || exit 1\nexec "%s/good" "$@"\n' 1024 "$FILCH_BENCH_DIR" \
    >"$FILCH_BENCH_DIR/bad"
mv -- "$FILCH_BENCH_DIR/fib-filch" "$FILCH_BENCH_DIR/good"
mv -- "$FILCH_BENCH_DIR/bad" "$FILCH_BENCH_DIR/fib-filch"
chmod +x "$FILCH_BENCH_DIR/fib-filch"
fails 1 bench scale-out fib --workers 1,1024 --repeat 1
stderr_has 'filch: fib-filch (1024 workers) exited with 1: wrong result'
row 'fib, ms 1 100.1 100.1 1.00 1.00 - - - -'
row '1024 failed'
sed -i 's/1024/1/' "$FILCH_BENCH_DIR/fib-filch"
fails 1 bench scale-out fib --workers 1,1024 --repeat 1
row 'fib, ms 1 failed'
row '1024 202.4 202.4 - - - - - -'
printf 'filch bench scale-out passed\n'
