#!/usr/bin/env bash
# docs.sh EXPLORE FILE: every block of FILE that begins with <!-- explore WORDS --> must be what
# `explore WORDS` prints.  docs.sh --write EXPLORE FILE puts it there.
set -euo pipefail
write=no
if [ "${1:-}" = --write ]; then
    write=yes
    shift
fi
explore=$1
file=$2

# Copies FILE; the lines between a mark and <!-- end --> are replaced by what the command prints.
renewed() {
    local line words skipping=no
    while IFS= read -r line; do
        if [ "$line" = '<!-- end -->' ]; then skipping=no; fi
        if [ "$skipping" = no ]; then printf '%s\n' "$line"; fi
        case $line in
        '<!-- explore '*)
            words=${line#'<!-- explore '}
            words=${words%' -->'}
            skipping=yes
            fenced "$words"
            ;;
        esac
    done <"$file"
}

# A table stands as it is, anything else as code.  `try` ends with 1 when it shows a fault.
fenced() {
    local fence=''
    if [ "$1" != markdown ]; then fence='```'; fi
    if [ -n "$fence" ]; then printf '%s\n' "$fence"; fi
    # shellcheck disable=SC2086  # the words of a command
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
    echo "docs.sh: $file no longer says what explore prints; renew it with: docs.sh --write" >&2
    exit 1
fi
echo "$file: every block is what explore prints"
