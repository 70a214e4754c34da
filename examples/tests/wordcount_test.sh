#!/usr/bin/env bash
# wordcount_test.sh PROGRAM: compare with tr, sort and uniq.
set -euo pipefail
program=$1
# shellcheck source=examples/tests/lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
cd -- "$work"
export LC_ALL=C

truth() {
    cat -- "$@" | tr -cs 'A-Za-z' '\n' | tr '[:upper:]' '[:lower:]' | sed '/^$/d' | sort | uniq -c | sort -k1,1nr -k2,2
}

# check FILE...: each file must end between two words, because the expected result is that of the
# concatenation.
check() {
    truth "$@" | awk '{ printf "%7d %s\n", $1, $2 }' >expected
    for workers in 1 2 4; do
        with "$workers" "$program" -n 1000000 "$@" >got
        same expected got "$* with $workers workers is not what uniq says"
    done
    head -n 10 expected >ten
    "$program" "$@" >got
    same ten got "without -n there are not ten"
}

# Several parts, with words across their boundaries.
awk 'BEGIN {
    srand(3)
    for (i = 0; i < 300000; i++) {
        for (j = 1 + rand() * rand() * 8; j > 0; j--)
            printf "%c", (rand() < 0.1 ? 65 : 97) + int(rand() * rand() * 26)
        printf "%s", substr(" \n.1\t-", 1 + int(rand() * 6), 1)
    }
    print ""
}' >words
check words
check words words
head -c 1000000 /dev/zero | tr '\0' 'x' >long # one word, longer than a part
check long
printf 'a\0A a\377a\n' >odd
check odd
"$program" <words >got
"$program" - <words >again
same got again "standard input is read in two ways"
"$program" /dev/null >got
[ ! -s got ] || fail "nothing has words"
[ -z "$("$program" -n 0 words)" ] || fail "-n 0 shows words"

refuses 1 "$program" nowhere
refuses 1 "$program" /
refuses 1 "$program" words nowhere
[ -s out ] || fail "a file that is not there keeps others from being counted"
refuses 2 "$program" -x
refuses 2 "$program" -n many
refuses 2 "$program" -n -1
"$program" -h | grep -q usage || fail "-h does not help"
