#!/usr/bin/env bash
# cli_lab_test.sh FILCH: usage errors of `filch lab`; its journal and continuation after an interruption, with stub programs;
# and each experiment once with the real programs and small sizes.
set -euo pipefail
filch=$1
# shellcheck source=tests/api/cli/lib.sh
. "${BASH_SOURCE[0]%/*}/lib.sh"
# shellcheck source=tests/api/cli/lab_lib.sh
. "${BASH_SOURCE[0]%/*}/lab_lib.sh"

# ---- usage ----

runs lab --help
stdout_has 'usage: filch lab EXPERIMENT'
for word in peers jobs deques steals probabilities all; do stdout_has "  $word "; done
rejects 'lab needs an experiment: peers, ' lab
rejects "unknown experiment 'nosuch'; choose from: peers, " lab nosuch
rejects "unknown experiment ''" lab ''
rejects 'lab all needs a directory' lab all
rejects 'lab report needs a directory' lab report
rejects "report takes no arguments (got 'x')" lab report x --out "$work/out"
rejects "--out takes the name of a directory (got '')" lab all --out ''
rejects "all takes no arguments (got 'peers')" lab all peers --out "$work/out"
rejects "deques takes no arguments (got 'jobs')" lab deques jobs
rejects "unknown option '--frobnicate'" lab deques --frobnicate
rejects "'--out' needs a value" lab deques --out
rejects "'--quick=5' takes no value" lab deques --quick=5
for word in 0 -1 100000 99999999999999999999 junk 1x ' 1'; do
    rejects "(got '$word')" lab deques --workers "$word"
    rejects "(got '$word')" lab deques --repeat "$word"
done
rejects "(got '0')" lab deques --timeout 0
[ ! -e "$work/out" ] || fail 'a directory was made although the usage was wrong'

# ---- stub programs ----

export FILCH_BENCH_DIR=$lab_programs
pretend_programs
out=$work/out

# keys: the calls in the journal of peers, sorted.
keys() { grep -o '^{"key":"[^"]*"' "$out/raw/peers.jsonl" | sort; }

# An output directory that cannot be created.
: >"$work/file"
fails 1 lab deques --out "$work/file"
stderr_has "$work/file/raw: Not a directory"
fails 1 lab deques --out "$work/no/such/folder"
stderr_has "$work/no/such/folder: No such file or directory"
[ ! -e "$calls" ] || fail 'programs were called although there is no output directory'
mkdir -p -- "$work/odd/raw" && ln -s /dev/zero "$work/odd/raw/deques.jsonl"
fails 1 lab deques --out "$work/odd"
stderr_has 'is not a regular file'

# All experiments: every case twice.  Peers: 6 workloads, each with a serial program and 5 runtimes with 1 and 2 workers.
runs lab all --out "$out" --workers 2 --repeat 2
stdout_has 'peers '
stdout_has 'agrees'
stdout_has "report: $out/report.html"
all=$(calls_made)
[ "$(keys | wc -l)" -eq $((2 * 6 * 11)) ] || fail "$(keys | wc -l) calls for peers"
[ "$(keys | uniq -d | wc -l)" -eq 0 ] || fail 'a call was made twice'
for name in peers jobs deques; do
    grep -q "<section id=\"$name\">" "$out/report.html" || fail "$name is not in the report"
    ! command -v gnuplot >/dev/null || [ -s "$out/charts/$name-1.svg" ] || fail "no chart of $name"
done

# The calls of a round come before those of the next: each case is called once before any is called again.
head -n $((6 * 11 + 1)) "$out/raw/peers.jsonl" | tail -n +2 | grep -qv '^{"key":"[^"]*#0"' && fail 'rounds are mixed'

# Settings apply to the calls of their case only.
grep -c '^fib-filch [12] eager$' "$calls" | grep -qx 4 || fail 'eager does not reach 4 calls of fib'
grep -c '^fib-filch [12]$' "$calls" | grep -qx 4 || fail 'lazy does not reach 4 calls of fib'
grep '^fib-tbb' "$calls" | grep -q eager && fail 'a setting applies to another call'

# A second run uses the journal: no program is called, and the output is the same.
before=$stdout
runs lab all --out "$out" --workers 2 --repeat 2
[ "$(calls_made)" -eq "$all" ] || fail 'calls were made again'
[ "$stdout" = "$before" ] || fail 'the output of the same results differs'

# A run of one experiment prints it in full, and the report keeps the sections of the others.
runs lab jobs --out "$out" --workers 2 --repeat 2
stdout_has '65,000 single jobs'
stdout_has '18.50'
stdout_has 'Compared with the publication: agrees.'
grep -q '<section id="peers">' "$out/report.html" || fail 'the report has lost a section'

# The report can be written again from the journals, without any program.
cp -- "$out/report.html" "$work/report"
rm -- "$out/report.html"
FILCH_BENCH_DIR=$work/nowhere fails 1 lab deques --quick
FILCH_BENCH_DIR=$work/nowhere runs lab report --out "$out"
cmp -s -- "$out/report.html" "$work/report" || fail 'the report differs'

# Without gnuplot, all but the charts is there.
path=$work/empty runs lab report --out "$out"
stderr_has 'report without charts: gnuplot is not installed'
grep -q '(not drawn)' "$out/report.html" || fail 'the report does not say that charts are missing'
[ "$(grep -c '<table>' "$out/report.html")" -eq "$(grep -c '<table>' "$work/report")" ] || fail 'tables are missing'
runs lab report --out "$out"

# The report is written to a new file, which replaces a link and keeps the mode.
echo precious >"$work/precious"
ln -s "$work/precious" "$out/report.html.new"
chmod 600 "$out/report.html"
runs lab report --out "$out"
[ "$(cat "$work/precious")" = precious ] || fail 'a file behind a link was written'
[ "$(stat -c %a "$out/report.html")" = 600 ] || fail 'the mode of the report has changed'
fails 1 lab report --out "$work/nowhere"
stderr_has "no report: $work/nowhere/raw has no journal"
[ ! -e "$work/nowhere" ] || fail 'a directory was made although there are no results'

# Results of a run with other settings are refused.
fails 1 lab peers --out "$out" --workers 2 --repeat 3
stderr_has "$out/raw/peers.jsonl belongs to another run, with \"rounds\":2; discard it with --restart"
FILCH_PUBLISH=eager fails 1 lab peers --out "$out" --workers 2 --repeat 2
stderr_has 'belongs to another run, with "settings":""'
touch -d '2001-01-01' "$lab_programs/pretender"
fails 1 lab peers --out "$out" --workers 2 --repeat 2
stderr_has 'belongs to another run, with "programs":'
[ "$(calls_made)" -eq "$all" ] || fail 'calls were made for a run that was refused'
runs lab peers --out "$out" --workers 2 --repeat 1 --restart
[ "$(keys | wc -l)" -eq 66 ] || fail 'the journal was not started again'

# ---- interrupted ----

rm -r -- "$out"
: >"$calls"
echo 50 >"$work/stops"
"$filch" lab peers --out "$out" --workers 2 --repeat 2 >"$work/log" 2>&1 &
tool=$!
until [ -e "$work/stopped" ]; do sleep 0.01; done # the test times out if it does not stop
kill -TERM $tool
code=0
wait $tool || code=$?
[ $code -eq 143 ] || fail 'filch was not killed by the signal'
[ "$(keys | wc -l)" -eq 49 ] || fail 'results before the signal were not kept'
printf '{"key":"fib/tbb/2#1","seconds":0.0' >>"$out/raw/peers.jsonl" # a truncated line, as after a power failure
rm -- "$work/stops"
runs lab peers --out "$out" --workers 2 --repeat 2
[ "$(calls_made)" -eq $((50 + 132 - 49)) ] || fail 'it did not continue after the recorded calls'
[ "$(keys | wc -l)" -eq 132 ] || fail 'calls are missing'
[ "$(keys | uniq -d | wc -l)" -eq 0 ] || fail 'a call was recorded twice'

# ---- failures ----

# A program that fails is named and not called again.  The other results are printed.
rm -r -- "$out"
: >"$calls"
echo fib-tbb >"$work/fails"
fails 1 lab peers --out "$out" --workers 1 --repeat 3
stderr_has 'filch: peers: fib/tbb/1 exited with 3: it hurts'
[ "$(grep -c '^fib-tbb' "$calls")" -eq 1 ] || fail 'a failed program was called again'
stdout_has 'knapsack'
grep -q 'failed: fib/tbb/1#0 exited with 3: it hurts' "$out/report.html" || fail 'the report does not show the failure'
rm -- "$work/fails"
runs lab peers --out "$out" --workers 1 --repeat 3 # now it works, and its calls are made
[ "$(grep -c '^fib-tbb' "$calls")" -eq 4 ] || fail 'the failed calls were not repeated'
grep -q 'failed: fib/tbb' "$out/report.html" && fail 'a repeated call is still reported as failed'

# A missing peer is named.
rm -- "$lab_programs"/*-libomp
echo 'libomp: not supported here' >"$lab_programs/left-out"
runs lab peers --workers 1 --repeat 2
stdout_has 'libomp: not supported here'
rm -- "$lab_programs"/*-tbb
runs lab peers --workers 1 --repeat 2
stdout_has 'Compared with the publication: cannot tell.'

# A full disk: a write fails.
code=0
(
    trap '' XFSZ
    ulimit -f 8
    exec "$filch" lab peers --out "$work/full" --workers 1 --repeat 4
) >"$work/log" 2>"$work/errors" || code=$?
stderr=$(cat -- "$work/errors")
[ $code -eq 1 ] || fail 'a journal that cannot be written is not reported'
stderr_has "$work/full/raw/peers.jsonl: File too large"
[ ! -s "$work/log" ] || fail 'results of an incomplete run are printed'
code=0
"$filch" lab deques --repeat 1 >/dev/full 2>"$work/errors" || code=$?
[ $code -eq 1 ] || fail 'a full output is not reported'

# ---- progress ----

if command -v python3 >/dev/null; then
    python3 -c '
import os, pty, re, sys
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
bars = re.findall(rb"\r\[(#*)(\.*)\] +(\d+) %  ([^\r\x1b]*)", text)
assert len(bars) == 62, len(bars)
assert all(len(a) + len(b) == 24 for a, b, _, _ in bars), bars
percents = [int(p) for _, _, p, _ in bars]
assert percents == sorted(percents) and percents[0] == 0 and percents[-1] >= 96, percents
assert b"about " in bars[0][3] and b" s left" in bars[-1][3], bars
assert b"deques: pairs/plain" in bars[0][3], bars[0]
' "$filch" lab deques --repeat 2 || fail 'no progress on a terminal'
fi

# ---- the real programs ----

unset FILCH_BENCH_DIR
for name in deques jobs peers; do
    runs lab $name --quick --repeat 1 --workers 1
    stdout_has 'Compared with the publication: '
    case $stdout in *nan*) fail "$name prints nan" ;; esac
done
printf 'filch lab passed\n'
