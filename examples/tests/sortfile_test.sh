#!/usr/bin/env bash
# sortfile_test.sh PROGRAM: compare with sort(1).
set -euo pipefail
program=$1
# shellcheck source=examples/tests/lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
cd -- "$work"
export LC_ALL=C

# Words, numbers of all kinds, and text that resembles numbers.
awk 'BEGIN {
    srand(7)
    for (i = 0; i < 40000; i++) {
        k = int(rand() * 6)
        if (k == 0) print int(rand() * 2000) - 1000
        else if (k == 1) printf "%s%.3f\n", substr(" -.", 1 + int(rand() * 4), 1), rand() * 100 - 50
        else if (k == 2) printf "000%d%d%d\n", rand() * 10, rand() * 1000000, rand() * 1000000
        else if (k == 3) print substr("-0-0.00-0x", 1 + int(rand() * 8), int(rand() * 5))
        else if (k == 4) print ""
        else { for (j = rand() * 8; j > 0; j--) printf "%c", 33 + int(rand() * 90); print "" }
    }
}' >lines
printf 'no end of line' >>lines

for options in "" -r -n "-n -r"; do
    # shellcheck disable=SC2086  # they are words
    sort $options lines >truth
    for workers in 1 2 4; do
        # shellcheck disable=SC2086
        with "$workers" "$program" $options lines >got
        same truth got "sortfile $options with $workers workers is not what sort says"
    done
done
sort lines >truth
"$program" <lines >got
same truth got "standard input is not sorted"
"$program" - <lines >got
same truth got "- is not standard input"
cp lines itself
"$program" -o itself itself
same truth itself "-o does not take the input itself"
"$program" /dev/null >got
[ ! -s got ] || fail "nothing became something"
printf 'b\0b\na\0a\n\n' >odd
sort odd >truth
"$program" odd >got
same truth got "bytes of value 0 are not kept"

refuses 1 "$program" nowhere
refuses 1 "$program" /
refuses 1 "$program" -o /nowhere/out lines
refuses 1 bash -c "'$program' lines >/dev/full"
refuses 2 "$program" -x
refuses 2 "$program" lines lines
"$program" -h | grep -q usage || fail "-h does not help"
