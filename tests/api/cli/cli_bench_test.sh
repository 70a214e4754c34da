#!/usr/bin/env bash
# cli_bench_test.sh FILCH BUILD-DIR: the output of `filch bench` and `filch bench run` for small sizes, from the build directory and
# installed.
set -euo pipefail
filch=$1 build=$2
# shellcheck source=tests/api/cli/lib.sh
. "${BASH_SOURCE[0]%/*}/lib.sh"
if ! command -v python3 >/dev/null; then
    echo 'skipped: python3 is not installed'
    exit 77
fi

# A size for each workload, and the result where it is known.
sizes='fib 15 610
tree 7 400
nqueens 7 40
matmul 64
sort-uniform 10000
sort-exponential 10000
knapsack 12
uts-T1 4
uts-T3 12'

# Every runtime that was built, with 1 and 3 workers, in lines of JSON.
while read -r workload size answer; do
    runs bench "$workload" --size "$size" --workers 1,3 --repeat 2 --json
    printf '%s\n' "$stdout" | python3 -c '
import json, sys
workload, size, answer, programs = sys.argv[1:5]
per_call = 10 if workload == "matmul" else 1
seen, spawns = {}, set()
for line in map(json.loads, sys.stdin):
    assert line["workload"] == workload and line["size"] == int(size), line
    assert not answer or line["result"] == int(answer), line
    assert len(line["samples"]) == 2 * per_call and line["failed"] is False, line
    assert line["best"] == min(line["samples"]) or abs(line["best"] - min(line["samples"])) < 1e-8, line
    assert line["best"] <= line["median"] <= max(line["samples"]) + 1e-8, line
    assert (line["steals"] is not None) == (line["runtime"] == "filch"), line
    assert (line["ns_per_spawn"] is None) == (workload == "knapsack"), line
    assert line["ratio_best"] > 0, line
    spawns.add(line["spawns"])
    seen.setdefault(line["runtime"], []).append(line["workers"])
assert len(spawns) == 1, spawns
assert seen.pop("serial") == [1] and "filch" in seen, seen
for runtime, workers in seen.items():
    assert workers == ([1] if runtime.startswith("serial-") else [1, 3]), seen
' "$workload" "$size" "$answer" "$build" || fail "the lines of $workload"
done <<<"$sizes"

# The published trees have known sizes.  Smaller ones are only compared with a serial walk.
programs=${filch%/*}/programs
for tree in T1:4130071 T3:4112897; do
    stdout=$("$programs/uts-serial" -i "${tree%:*}") || fail "${tree%:*}"
    stdout_has "\"result\":${tree#*:},"
done

# The spawns that Filch counts equal those that the program reports.
runs bench run tree -n 7 -w 2 -r 3
stdout_has 'tree, size 7, on 2 workers: result 400'
printf '%s\n' "$stdout" | awk '
    $1 == "spawned" { spawned = $2 == 3 * 399 && $3 + $4 == $2 }
    $1 ~ /^(run_inline|published|claimed_back|stolen|parks|wakes|searches|fibers_created|fibers_reused)$/ {
        rows++
        if (NF != 4 || $3 + $4 != $2) bad = 1
    }
    /^time: [0-9.]+ ms, [0-9.]+ ms, [0-9.]+ ms$/ { times = 1 }
    END { exit !(spawned && rows == 9 && times && !bad) }' || fail 'the counters of run'

# The settings take effect: eager publishing publishes more spawns.
published() { printf '%s\n' "$stdout" | awk '$1 == "published" { print $2 }'; }
runs bench run fib -n 15 -w 1 --publish lazy
lazy=$(published)
runs bench run fib -n 15 -w 1 --publish eager --deque bounded --stack-size 512k --steal-batch 1
[ "$(published)" -gt "$lazy" ] || fail "eager publishes $(published), lazy $lazy"

# The table.
runs bench fib nqueens --quick --repeat 1 --runtimes filch --workers 2
[ -z "$stderr" ] || fail 'prints to stderr without an error'
printf '%s\n' "$stdout" | awk '
    NR == 1 && /^workload +size +runtime +workers +median ms +best ms +\/ serial +best +ns\/spawn +steals$/ { head = 1 }
    $1 == "fib" && $2 == 32 && $3 == "serial" && $4 == 1 && $7 == "1.00" && NF == 10 { fib = 1 }
    $1 == "nqueens" && $3 == "serial" { nqueens = 1 }
    $1 == "filch" && $2 == 2 && NF == 8 { filch++ }
    /tbb|libgomp|libomp/ { peers = 1 }
    END { exit !(head && fib && nqueens && filch == 2 && !peers) }' || fail 'the table'

# Progress is shown on a terminal.
python3 -c '
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
text = b""
try:
    while chunk := os.read(fd, 4096):
        text += chunk
except OSError:
    pass
assert os.waitpid(pid, 0)[1] == 0
assert b"\rfib, round 2 of 2: filch, 1 worker" in text, text
' "$filch" bench fib --size 5 --repeat 2 --runtimes filch --workers 1 || fail 'no progress on a terminal'

if command -v gnuplot >/dev/null; then
    for kind in svg png; do
        runs bench fib --size 12 --repeat 1 --json --plot "$work/picture.$kind"
    done
    grep -q '<svg' "$work/picture.svg" || fail 'the plot is not an SVG file'
    grep -q '>filch<' "$work/picture.svg" || fail 'the plot does not name Filch'
    [ "$(head -c 4 "$work/picture.png" | tail -c 3)" = PNG ] || fail 'the plot is not a PNG file'
    fails 1 bench fib --size 12 --repeat 1 --plot "$work/no/such/folder.svg"
    stderr_has 'no plot was written'
else
    echo 'plots are not tested: gnuplot is not installed'
fi

# Installed, and then moved to another directory.
cmake --install "$build" --prefix "$work/first" >"$work/log" || { cat "$work/log" && fail 'install'; }
mv -- "$work/first" "$work/second"
filch=$work/second/bin/filch
runs bench fib --size 12 --repeat 1 --json
stdout_has '"workload":"fib","runtime":"filch","workers":1,"failed":false,"size":12'
[ -f "$work/second/share/man/man1/filch.1" ] || fail 'filch(1) is not installed'
printf 'filch bench passed\n'
