#!/usr/bin/env bash
# cli_scale_test.sh FILCH WAITS: `filch scale` on a workload with a known tree, on programs that write no profile, and its
# usage errors.
set -euo pipefail
filch=$1 waits=$2
# shellcheck source=tests/api/cli/lib.sh
. "${BASH_SOURCE[0]%/*}/lib.sh"
if ! command -v python3 >/dev/null; then
    echo 'skipped: python3 is not installed'
    exit 77
fi
fib=${filch%/*}/programs/fib-filch

rejects 'scale needs a program' scale
rejects 'ascending numbers' scale --workers 4,2 "$fib"
rejects "(got 'many')" scale --workers many "$fib"
rejects "(got '-1')" scale --burden=-1 "$fib"
rejects 'must end in .svg or .png' scale --plot x.gif "$fib"
rejects "unknown option '--nonsense'" scale --nonsense "$fib"
runs scale --help
stdout_has 'usage: filch scale'

# A failure of the program is reported.
fails 1 scale -- true
stderr_has 'true wrote no profile'
fails 1 scale -- false
stderr_has 'false exited with 1'
fails 1 scale -- "$work/nosuch"
stderr_has 'No such file'
# shellcheck disable=SC2016  # $$ of the inner shell
fails 1 scale -- sh -c 'kill -TERM $$'
stderr_has 'was killed by signal 15'

# A signal that kills filch also kills the program, and no file is left.
mkdir "$work/tmp"
# shellcheck disable=SC2016  # $$ of the inner shell, and that of filch
TMPDIR=$work/tmp fails 1 scale -- sh -c 'kill -TERM $PPID; exec sleep 60'
stderr_has 'was killed by signal 15'
[ -z "$(ls -A "$work/tmp")" ] || fail 'a file is left behind'

# The spawns of fib are known.  Arguments and output of the program are passed through.
runs scale --workers 2,4 --csv "$work/scale.csv" -- "$fib" -n 15 -r 1
stdout_has '"workload":"fib"'
stdout_has 'tasks spawned                986'
printf '%s\n' "$stdout" | python3 -c '
import sys
rows = {}
table = []
for line in sys.stdin:
    words = line.split()
    if len(words) == 3 and words[0].isdigit():
        table.append([float(w) for w in words])
    elif words and words[0] in ("work", "span", "parallelism"):
        rows[words[0]] = words
unit = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
work, span = (float(rows[n][1]) * unit[rows[n][2]] for n in ("work", "span"))
parallelism = float(rows["parallelism"][1])
assert 0 < span <= work, rows
assert abs(parallelism - work / span) <= 0.01 * parallelism + 0.01, rows
assert [r[0] for r in table] == [1, 2, 4], table
for workers, least, most in table:
    assert 0 < least <= most <= workers and most <= parallelism + 0.01, table
'
[ "$(wc -l <"$work/scale.csv")" -eq 4 ] || fail 'four lines in the CSV'

# A loop of one grain has no parallelism: its span is its work.
runs scale --repeat 2 --measure --workers 2 -- "$fib" -n 1 -r 1
stdout_has 'tasks spawned                  0'
stdout_has 'measured'
fails 1 scale --csv "$work/no/such/folder" -- "$fib" -n 5 -r 1
stderr_has 'No such file or directory'
stderr=$(FILCH_SCALE=$work/no/such/folder "$fib" -n 5 -r 1 2>&1) || fail 'a program fails because its profile cannot be written'
stderr_has "FILCH_SCALE: cannot write $work/no/such/folder: No such file or directory"

# Of two processes that write the same file, the last one wins and replaces the whole file.
mkfifo "$work/input"
FILCH_SCALE=$work/both "$waits" <"$work/input" >"$work/output" &
exec 3>"$work/input"
await "$waits prints 'ready'" grep -q ready "$work/output"
FILCH_SCALE=$work/both "$fib" -n 22 -r 3 >/dev/null 3>&-
printf '%0400d\n' 0 >>"$work/both"
exec 3>&-
wait
[ "$(wc -l <"$work/both")" -eq 1 ] || fail 'the file does not have exactly one line'
