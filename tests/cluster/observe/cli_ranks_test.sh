#!/usr/bin/env bash
# cli_ranks_test.sh FILCH PUBLISH: `filch top --ranks` finds a program, shows its table of ranks, and
# prints why it cannot show a process.
set -euo pipefail
filch=$1 publish=$2
# shellcheck source=tests/api/cli/lib.sh
. "${BASH_SOURCE[0]%/*}/../../api/cli/lib.sh"

# start_table CASE: run the program until stop_table, and set $pid.
mkfifo "$work/input"
start_table() {
    : >"$work/output"
    "$publish" "$1" <"$work/input" >"$work/output" &
    pid=$!
    exec 3>"$work/input"
    await "the program prints 'ready'" grep -q ready "$work/output"
}
stop_table() {
    exec 3>&-
    wait "$pid"
}

rejects "takes one process (got also '2')" top --ranks 1 2
fails 1 top --ranks 2147483647
stderr_has 'process 2147483647: no such process'

start_table ranks
child=$(head -1 "$work/output")
# A beat is late on a busy machine.
has_rates() {
    runs top --ranks --once -i 200 "$pid"
    grep -Eq "^    0 node\?\[2J\? +$pid +4 +2 +[0-9k]+ +(9[5-9][0-9]|10[0-4][0-9]) +0 +0 +0 +0 +0 +25%  " <<<"$stdout"
}
await 'rates of rank 0' has_rates
stdout_has "publish_ranks ($pid): 3 ranks, up "
stdout_has ', run 2 for '
stdout_has '; 1 of 3 ranks busy; oldest silence '
stdout_has 'loots   14, 0/s; 140k bytes, 0/s'
grep -Eq "^    1 node\?\[2J\? +$child +4 +0 " <<<"$stdout" || fail 'row of rank 1'
stdout_has '    2 not heard of yet'

# The shell is the parent of rank 0, as a launcher is.  Another rank is found by its row.
runs top --ranks --once -i 100 "$child"
stdout_has '3 ranks'
runs top --ranks --once -i 100 $$
stdout_has "publish_ranks ($pid): 3 ranks"

# Without PID.  Another program with ranks may run on this machine, which is then listed.
run top --ranks --once -i 100
case $code in
0) stdout_has "publish_ranks ($pid): 3 ranks" ;;
*) stdout_has "$pid  publish_ranks" ;;
esac

# Several programs
publisher=$pid
mkfifo "$work/other_input"
"$publish" many <"$work/other_input" >"$work/other_output" &
many=$!
exec 4>"$work/other_input"
await "the other program prints 'ready'" grep -q ready "$work/other_output"
fails 1 top --ranks
stdout_has "$publisher  publish_ranks"
stdout_has "$many  publish_ranks"
stderr_has ' programs have ranks; give the PID of one'
runs top --ranks --once -i 200 "$many"
stdout_has "publish_ranks ($many): 5000 ranks"
stdout_has '; 1234 of 5000 ranks busy; oldest silence 1.5 s'
stdout_has 'more than 4096 ranks have no rows'
exec 4>&-
wait "$many"

# It ends with the program.
"$filch" top --ranks -i 100 "$pid" >"$work/shown" 3>&- &
other=$!
await 'the other filch top prints' test -s "$work/shown"
stop_table
wait "$other" || fail 'ends well with the process'
grep -q "process $publisher ended or stopped its cluster" "$work/shown"

# Programs without a table, and with invalid ones
start_table none
fails 1 top --ranks "$pid"
stderr_has "process $pid: it has no table of ranks: it does not use filch-mpi, or its rank 0 is on another node"
run top --ranks --once -i 100
case "$stdout$stderr" in
*"$pid"*) fail 'a program without a table is shown' ;;
esac
stop_table
for case in short sizes version magic rows unsealed; do
    start_table "$case"
    fails 1 top --ranks "$pid"
    stderr_has "process $pid: its table of ranks has another format"
    stop_table
done
echo 'all passed'
