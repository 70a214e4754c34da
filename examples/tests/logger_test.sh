#!/usr/bin/env bash
# logger_test.sh PROGRAM: all lines of all files are in the log, those of each file in order.
set -euo pipefail
program=$1
# shellcheck source=examples/tests/lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
cd -- "$work"
lines=$((20000 / ${FILCH_TEST_SCALE:-1}))

seq "$lines" >a
seq "$lines" | sed 's/$/ and some more text/' >b
printf 'first\n\nlast line without an end' >c
head -c 100000 /dev/zero | tr '\0' 'x' >d # one line, longer than a read

# The finished files in order, then the current one.
whole_log() {
    local i=1
    while [ -f "log.$i" ]; do
        cat -- "log.$i"
        i=$((i + 1))
    done
    cat -- log
}

# check FILE: its lines in the log are those of the file, in order.
check() {
    whole_log | sed -n "s/^$1: //p" >got
    awk 1 "$1" >expected # ends the last line
    same expected got "the log has not the lines of $1"
}

for workers in 1 2 4; do
    rm -f log*
    with "$workers" "$program" -s 10000 log a b c d
    for file in a b c d; do check "$file"; done
    [ -f log.2 ] || fail "no second file was begun"
done

# Standard input, and a file that does not exist.
rm -f log*
seq 100 | "$program" log - || fail "standard input is refused"
sed 's/^-: //' log >got
seq 100 >expected
same expected got "standard input is not logged"
if "$program" log missing 2>err; then fail "a missing file is not an error"; fi
grep -q '^logger: missing: ' err || fail "the missing file is not named"
