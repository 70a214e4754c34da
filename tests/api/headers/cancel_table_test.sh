#!/usr/bin/env bash
# cancel_table_test.sh TREE: each wait in the table of filch-cancel(7) has a row in a test, and the test
# agrees with the table whether it is interrupted.
set -euo pipefail
tree=$1
rows=("$tree/tests/unit/job/job_waits.c" "$tree/tests/unit/io/io_cancel.c")
checked=0

fail() {
    printf 'FAILED: %s\n' "$1" >&2
    exit 1
}

# The rows of the section "Waits" as lines "KIND NAME".  filch_x(_n)(_until) is four names.
table() {
    awk '/^\.Ss /{ inside = /^\.Ss Waits/ } !inside { next }
        /return \\-ECANCELED:$/ || /pass the cancellation on/ { kind = "true" }
        /as if there were no cancellation/ { kind = "false" }
        /^\.It / { n = split(substr($0, 5), names, ", "); for (i = 1; i <= n; i++) print kind, names[i] }' \
        "$tree/man/filch-cancel.7" | expand '_n' | expand '_until'
}

# expand SUFFIX: a name with (SUFFIX) becomes two names
expand() {
    sed -E "s/^(.*)\($1\)(.*)\$/\1\2\n\1$1\2/"
}

while read -r kind name; do
    checked=$((checked + 1))
    grep -hEq "\"$name\", \w+, $kind," "${rows[@]}" ||
        fail "$name has no row with is_interrupted = $kind in job_waits.c or io_cancel.c"
done < <(table)
[ "$checked" -ge 50 ] || fail "only $checked waits were found in the table"
printf '%d passed, 0 failed\n' "$checked"
