#!/usr/bin/env bash
# cli_jobs_test.sh FILCH: the table of `filch bench jobs` for small sizes, and its errors.
set -euo pipefail
filch=$1
# shellcheck source=tests/api/cli/lib.sh
. "${BASH_SOURCE[0]%/*}/lib.sh"
if ! command -v python3 >/dev/null; then
    echo 'skipped: python3 is not installed'
    exit 77
fi

# Usage errors.
rejects 'jobs has its own table and cannot be combined with fib' bench jobs fib
rejects 'jobs has its own table and cannot be combined with fib' bench fib jobs
rejects 'jobs is given twice' bench jobs jobs
rejects '--size does not apply to jobs' bench jobs --size 5
rejects '--runtimes does not apply to jobs' bench jobs --runtimes filch
rejects "(got '0')" bench jobs --workers 0
rejects "unknown workload 'jobs'; choose from: fib," bench run jobs
runs bench --help
stdout_has 'filch bench jobs [OPTION...]'

# The table: each time is above 0, and each gain is the quotient of the times.
runs bench --quick jobs --repeat 1 --workers 1,3
[ -z "$stderr" ] || fail 'prints to stderr without an error'
printf '%s\n' "$stdout" | python3 -c '
import sys
lines = [line.split() for line in sys.stdin]
assert lines[0] == ("workers basic + allocator gain step + lock-free gain step "
                    "filch gain step filch-group gain step filch-job gain step").split(), lines[0]

def times(words, columns):
    ms = [float(words[0])] + [float(words[i]) for i in range(1, len(words), 3)]
    assert len(ms) == columns and min(ms) > 0, words
    for i in range(1, columns):
        gain, step = (float(w[:-1]) for w in words[3 * i - 1:3 * i + 1])
        before = ms[min(i - 1, 2)]
        # The times themselves are rounded, to a thousandth.
        for shown, a in (gain, ms[0]), (step, before):
            low, high = ((a - s * 5.1e-4) / (ms[i] + s * 5.1e-4) for s in (1, -1))
            assert low - 0.006 <= shown <= high + 0.006, words
    return ms

def block(at, title, published):
    assert " ".join(lines[at]).startswith(title), lines[at]
    for row, workers in (1, "1"), (3, "3"):
        assert lines[at + row][:3] == ["median", "ms", workers], lines[at + row]
        assert lines[at + row + 1][:3] == ["best", "ms", workers], lines[at + row + 1]
        median, best = times(lines[at + row][3:], 6), times(lines[at + row + 1][3:], 6)
        assert all(b <= m for m, b in zip(median, best)), lines[at + row]
    assert lines[at + 5][:2] == ["published", "ms"], lines[at + 5]
    assert times(lines[at + 5][2:], 3) == published, lines[at + 5]

block(1, "jobs-single: 5000 empty jobs", [18.5, 9.9, 2.93])
block(7, "jobs-for: 2047 jobs of a loop", [5.3, 1.35, 0.76])
' || fail 'the table'

# JSON lines: the programs count that each job ran once and each number was visited once.
runs bench jobs --quick --repeat 1 --workers 2 --json
printf '%s\n' "$stdout" | python3 -c '
import json, sys
seen = []
for line in map(json.loads, sys.stdin):
    seen.append((line["workload"], line["workers"], line["runtime"]))
    assert line["result"] == {"jobs-single": 5000, "jobs-for": 1024 * 16}[line["workload"]], line
    assert len(line["samples"]) == 20 and min(line["samples"]) > 0, line
    assert (line["runtime"] == "basic") <= (line["ratio_best"] == 1), line
columns = "basic", "allocator", "lock-free", "filch", "filch-group", "filch-job"
assert seen == [(j, 2, c) for j in ("jobs-single", "jobs-for") for c in columns], seen
' || fail 'the lines'

# The real sizes, and the smallest ones.
programs=${filch%/*}/programs
for column in basic allocator lock-free filch filch-group filch-job; do
    for shape in single:1:1 single:65000:65000 for:1:16 for:8192:131072; do
        IFS=: read -r input size result <<<"$shape"
        stdout=$("$programs/jobs-$column" -i "$input" -n "$size" -w 3) || fail "jobs-$column -i $input -n $size"
        stdout_has "\"runtime\":\"$column\""
        stdout_has "\"result\":$result,"
    done
done
stdout=
stderr=$("$programs/jobs-basic" -i for -n 3 2>&1) && code=0 || code=$?
[ "$code" -eq 2 ] || fail 'a loop of three leaves'
stderr_has 'power of two'

if command -v gnuplot >/dev/null; then
    runs bench jobs --quick --repeat 1 --workers 1 --json --plot "$work/picture.svg"
    for name in allocator lock-free filch filch-group filch-job basic; do
        grep -q ">$name<" "$work/picture.svg" || fail "the picture does not name $name"
    done
else
    echo 'pictures are not looked at: there is no gnuplot'
fi

# One of the programs is missing, or fails: the rest is shown.
export FILCH_BENCH_DIR=$work/programs
mkdir -- "$FILCH_BENCH_DIR"
fails 1 bench jobs --quick
stderr_has 'cannot measure jobs-single: no program jobs-basic in'
[ -z "$stdout" ] || fail 'a table of nothing'
cp -- "$programs"/jobs-* "$FILCH_BENCH_DIR"
rm -- "$FILCH_BENCH_DIR/jobs-lock-free"
printf '#!/bin/sh\necho lost a job >&2\nexit 1\n' >"$FILCH_BENCH_DIR/jobs-lock-free"
chmod +x "$FILCH_BENCH_DIR/jobs-lock-free"
fails 1 bench jobs --quick --repeat 1 --workers 2
stderr_has 'filch: jobs-lock-free (2 workers) exited with 1: lost a job'
stdout_has 'median ms          2  lock-free failed'
stdout_has 'published ms             18.500'
printf 'filch draws the table of jobs\n'
