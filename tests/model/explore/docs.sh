#!/usr/bin/env bash
# docs.sh EXPLORE FILE: check that every block of FILE that begins with <!-- explore ARGS --> is the
# output of `explore ARGS`.  docs.sh --write EXPLORE FILE writes it there.
set -euo pipefail
write=no
if [ "${1:-}" = --write ]; then
    write=yes
    shift
fi
explore=$1
file=$2

# Copy FILE, with the lines between a mark and <!-- end --> replaced by the output of the command.
renewed() {
    local line args skipping=no
    while IFS= read -r line; do
        if [ "$line" = '<!-- end -->' ]; then skipping=no; fi
        if [ "$skipping" = no ]; then printf '%s\n' "$line"; fi
        case $line in
        '<!-- explore '*)
            args=${line#'<!-- explore '}
            args=${args%' -->'}
            skipping=yes
            fenced "$args"
            ;;
        esac
    done <"$file"
}

# A table is not fenced, anything else is.  `try` exits with 1 when it shows a fault.
fenced() {
    local fence=''
    if [ "$1" != markdown ]; then fence='```'; fi
    if [ -n "$fence" ]; then printf '%s\n' "$fence"; fi
    # shellcheck disable=SC2086  # split into arguments
    "$explore" $1 || true
    if [ -n "$fence" ]; then printf '%s\n' "$fence"; fi
}

if [ "$write" = yes ]; then
    copy=$(renewed)
    printf '%s\n' "$copy" >"$file"
    exit 0
fi
if ! grep -q '^<!-- explore ' "$file"; then
    echo "docs.sh: no block to compare in $file" >&2
    exit 1
fi
if ! diff -u "$file" <(renewed); then
    echo "docs.sh: $file differs from the output of explore; update it with: docs.sh --write" >&2
    exit 1
fi
echo "$file: every block is the output of explore"
