#!/usr/bin/env bash
# first_call_test.sh PROGRAM INCLUDE-DIR: each public function has a case in first_call_cases.inc, and all cases pass.
# The functions of libfilch-mpi are tested by tests/cluster/run.
set -euo pipefail
program=$1 include=$2
headers=()
for header in "$include"/*.h; do
    [ "${header##*/}" = cluster.h ] || headers+=("$header")
done
# A declaration may have several lines.  Names that end with _ are called by inline functions and macros only.
names=$(cat -- "${headers[@]}" | tr '\n' ' ' | grep -oE '(FILCH_API|static inline) [^;{=()]*\bfilch_[a-z0-9_]+\(' |
    grep -oE 'filch_[a-z0-9_]+' | grep -v '_$' | sort -u)
# Types in a declaration are not functions.
missing=$(comm -23 <(grep -vxF "$(grep -hoE '\} filch_[a-z_]+;|typedef struct filch_[a-z_]+ ' "${headers[@]}" | grep -oE 'filch_[a-z_]+' | sort -u)" <<<"$names") \
    <("$program" list | sort -u))
[ -z "$missing" ] || { printf 'FAILED: no case for %s\n' "$missing" >&2 && exit 1; }
exec "$program"
