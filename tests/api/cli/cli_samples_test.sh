#!/usr/bin/env bash
# cli_samples_test.sh FILCH: a file of samples as CSV and as probabilities, and invalid files.
set -euo pipefail
filch=$1
# shellcheck source=tests/api/cli/lib.sh
. "${BASH_SOURCE[0]%/*}/lib.sh"
fib=${filch%/*}/programs/fib-filch
file=$work/fib.samples

# ---- a table ----
FILCH_SAMPLE=$file FILCH_PUBLISH=eager "$fib" -n 18 -w 2 >/dev/null
runs lab csv "$file"
stdout_has 'ticks,seconds,size_0,bottom_incs_0,bottom_decs_0,top_0,pushes_0,pops_0,'
stdout_has ',resizes_1'
printf '%s\n' "$stdout" >"$work/fib.csv"
rows=$(wc -l <"$work/fib.csv")
[ "$rows" -gt 2 ] || fail 'there are no samples'
[ "$(awk -F, '{ print NF }' "$work/fib.csv" | sort -u)" = 28 ] || fail 'not all rows have 28 columns'

# At the end, pushes equal pops, steals and the remaining items, also by the sizes.
tail -n 1 "$work/fib.csv" | awk -F, '{
    for (d = 0; d < 2; d++) { at = 3 + d * 13; size += $at; pushes += $(at + 4); pops += $(at + 5); stolen += $(at + 11) }
    if (pushes < 4180 || pushes != pops + stolen + size) { print "pushes", pushes, "pops", pops, "stolen", stolen, "left", size; exit 1 }
}' || fail 'the counters do not add up'

# ---- invalid files ----
rejects 'csv needs a file' lab csv
rejects "unknown option '--nonsense'" lab csv --nonsense
rejects "(got also 'more')" lab csv "$file" more
is_refused() { # TEXT FILE
    fails 1 lab csv "$2"
    stderr_has "$1"
    [ -z "$stdout" ] || fail "filch lab csv $2 prints to stdout"
    [ "$(printf '%s\n' "$stderr" | wc -l)" -eq 1 ] || fail "filch lab csv $2 does not print one line to stderr"
}
is_refused 'No such file' "$work/nosuch"
is_refused 'is not a regular file' "$work"
: >"$work/empty"
is_refused 'too short' "$work/empty"
head -c 100000 /dev/zero >"$work/zeros"
is_refused 'is not a file of samples' "$work/zeros"
head -c -1 "$file" >"$work/short"
is_refused 'is truncated' "$work/short"
head -c 300 "$file" >"$work/shorter"
is_refused 'is truncated' "$work/shorter"
# put OFFSET BYTES: write a copy of the file with these bytes at OFFSET.
put() {
    cp "$file" "$work/bad"
    printf '%b' "$2" | dd of="$work/bad" bs=1 seek="$1" conv=notrunc status=none
}
put 8 '\x02'
is_refused 'another version' "$work/bad"
put 20 '\0\0\0\0'
is_refused 'invalid header' "$work/bad"
put 20 '\xff\xff\xff\xff'
is_refused 'invalid header' "$work/bad"
put 16 '\x04'
is_refused 'invalid header' "$work/bad"
put 48 '\xff\xff\xff\xff\xff\xff\xff\xff'
is_refused 'is truncated' "$work/bad"
runs lab csv --help
stdout_has 'usage: filch lab csv'

# ---- probabilities ----
rejects "'nosuch' is neither a workload" lab probabilities nosuch
rejects "'0' is neither a workload" lab probabilities fib 0
runs lab probabilities fib --quick
stdout_has 'fib: probability that the size of a deque changes by -2 to 2 within 100 ticks'
stdout_has 'eager, 2 workers'
stdout_has 'lazy, 2 workers'
stdout_has 'Compared with the publication'
runs lab probabilities matmul 250 --quick
stdout_has '0.0976776'
stdout_has 'within 250 ticks'
