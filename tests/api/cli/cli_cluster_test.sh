#!/usr/bin/env bash
# cli_cluster_test.sh FILCH: filch cluster sim simulates one setting or prints a table, and reports usage errors.
set -euo pipefail
filch=$1
# shellcheck source=tests/api/cli/lib.sh
. "${BASH_SOURCE[0]%/*}/lib.sh"

# value NAME: the number behind a name in the report.
value() {
    sed -nE "s/^$1 +([^ ]+).*/\\1/p" <<<"$stdout"
}
# has NAME VALUE
has() {
    [ "$(value "$1")" = "$2" ] || fail "$1 is '$(value "$1")' instead of '$2'"
}

# ---- commands ----
rejects "cluster needs a command; run 'filch cluster --help' for a list" cluster
rejects "unknown command 'cluster sin'; did you mean 'cluster sim'?" cluster sin
rejects "unknown command 'cluster bench'; run 'filch cluster --help' for a list" cluster bench
rejects "help takes one command (got also 'bench')" help cluster bench
runs cluster --help
stdout_has '  sim '
runs help cluster sim
stdout_has 'usage: filch cluster sim'
for tree in G13 B13 G9 B9; do stdout_has "  $tree "; done

# ---- one setting ----
runs cluster sim --ranks 1
has ranks 1
has items 585,882
has messages 0
has waves 2
has efficiency 100.0
runs cluster sim --ranks 40 --runs 2 --reorder --jitter 100 --wake-up 50 --seed 7
has seed 7
has runs 2
has items 1,171,764
first=$stdout
runs cluster sim --ranks 40 --runs 2 --reorder --jitter 100 --wake-up 50 --seed 7
[ "$stdout" = "$first" ] || fail 'the same seed gives another report'
runs cluster sim --ranks 40 --runs 2 --reorder --jitter 100 --wake-up 50 --seed 8
[ "$(value 'hash of the events')" != "$(sed -nE 's/^hash of the events +//p' <<<"$first")" ] ||
    fail 'another seed gives the same events'
runs cluster sim --tree b9 --ranks 8 --slow 8 --slow-factor 2 --tries 0 --loot 64 --answer 0 --item 1 --latency 0
has items 1,299,981
has 'random questions' 0

# A rank that dies is found after the silence, and one that stops is not.
fails 1 cluster sim --ranks 9 --outage 3 --silence 3000
stdout_has 'rank 0 finds rank 3 dead'
runs cluster sim --ranks 9 --outage 3 --outage-at 0.1 --outage-for 2000
[[ $stdout != *dead* ]] || fail 'a rank that stops for 2 s is found dead'

# ---- tables ----
runs cluster sim --quick
stdout_has 'wake-up of a thread: 0 us'
stdout_has 'wake-up of a thread: 0 to 50 us'
[ "$(grep -cE '^[GB]9 .* %$' <<<"$stdout")" -eq 12 ] || fail 'the quick tables have 12 rows'

# ---- usage errors ----
rejects "cluster sim takes no arguments (got 'me')" cluster sim me
rejects "cluster sim: unknown tree 'T1'; see --help for the names" cluster sim --tree T1
rejects '--quick prints tables; it excludes the other options' cluster sim --quick --ranks 5
rejects "cluster sim: --ranks takes a number from 1 to 16384 (got '0')" cluster sim --ranks 0
rejects "(got '16385')" cluster sim --ranks 16385
rejects "cluster sim: --item takes a number from 0.001 to 1e+06 (got '0')" cluster sim --item 0
for word in -1 1x '' ' 1' nan 1e9 0x; do
    rejects "(got '$word')" cluster sim --latency "$word"
done
for word in -1 1x '' ' 1' 18446744073709551616; do
    rejects "(got '$word')" cluster sim --seed "$word"
done
rejects '--slow: 65 of 64 ranks' cluster sim --slow 65
rejects 'need --outage' cluster sim --outage-for 5
rejects 'there is no rank 64 of 64' cluster sim --outage 64
rejects '--outage needs 2 ranks or more' cluster sim --ranks 1 --outage 0
rejects "option '--ranks' needs a value" cluster sim --ranks

# ---- the program ----
FILCH_BENCH_DIR=$work fails 1 cluster sim --quick
stderr_has "filch: cluster sim: cannot find the program '$work/cluster-sim'"
printf 'filch cluster sim simulates, and reports errors\n'
