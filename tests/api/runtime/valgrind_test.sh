#!/usr/bin/env bash
# valgrind_test.sh PROGRAM: memcheck finds nothing, lazy and eager: no wrong read, no leak.
set -euo pipefail
program=$1
command -v valgrind >/dev/null || { echo "skipped: there is no valgrind" && exit 77; }
log=$(mktemp)
trap 'rm -f -- "$log"' EXIT

export FILCH_WORKERS=2 FILCH_PUBLISH
for FILCH_PUBLISH in lazy eager; do
    valgrind --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite,indirect,possible \
        --fair-sched=yes "$program" >"$log" 2>&1 || { cat "$log" && echo "FAILED: $FILCH_PUBLISH" >&2 && exit 1; }
    grep -q 'ERROR SUMMARY: 0 errors' "$log" || { cat "$log" && exit 1; }
    ! grep -iE 'client switching stacks|brk|can.t grow' "$log" || { echo "FAILED: valgrind does not know our stacks" >&2 && exit 1; }
done
