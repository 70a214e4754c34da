#!/usr/bin/env bash
# symbols_test.sh SOURCE-DIR LIBRARY MAP NODE [HEADER...]: MAP lists the symbols that the headers declare
# with FILCH_API, and the shared library exports these.  NODE is the version node of MAP without its
# number.  HEADER: names of public headers; default: all except those of libfilch-mpi.
set -euo pipefail
export LC_ALL=C
source=$1 library=$2 map=$3 node=$4
map_name=${map#"$source"/}
shift 4
headers=()
for header in "$source"/include/filch/*.h; do
    case $(basename -- "$header") in
    cluster.h) ;;
    *) headers+=("$header") ;;
    esac
done
[ $# -eq 0 ] || headers=("${@/#/$source/include/filch/}")
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

fail() {
    printf 'FAILED: %s\n' "$1" >&2
    exit 1
}

# same EXPECTED FOUND TEXT: two files with a name a line.
same() {
    diff -u "$work/$1" "$work/$2" || fail "$3"
}

# Join each declaration into one line.  Its name is before a parenthesis, or at the end if it is a variable.
awk '/^FILCH_API/ { on = 1 } on { printf "%s ", $0 } on && /;/ { print ""; on = 0 }' "${headers[@]}" |
    grep -oE 'filch_[a-z0-9_]+(\(|;)' | tr -d '(;' >"$work/declared"
min=100
# gdb reads this one.  No header declares it.
if [ $# -eq 0 ]; then printf 'filch_layout_\n' >>"$work/declared"; else min=5; fi
sort -u -o "$work/declared" "$work/declared"
[ "$(wc -l <"$work/declared")" -gt $min ] || fail "the test found few FILCH_API declarations"

sed -nE 's/^    (filch_[a-z0-9_]+);$/\1/p' "$map" >"$work/listed"
same declared listed "$map_name is not the sorted list of the FILCH_API declarations: + lines are in the map alone, - lines in the headers alone"
# Nothing else: no wildcard, no second symbol in a line.
! grep -vE '^( \*|/\*|FILCH_[A-Z]*_?[0-9.]+ \{$|global:$|local:$|    \*;$|\};$|    filch_[a-z0-9_]+;$)' "$map" ||
    fail "$map_name has the lines above"

node+=_$(sed -nE 's/^#define FILCH_VERSION_(MAJOR|MINOR) ([0-9]+)$/\2/p' "$source/include/filch/version.h" | paste -sd.)
[ "$(grep -oE '^FILCH_[A-Z0-9_.]+' "$map")" = "$node" ] || fail "$map_name has another version node than $node, the version of the headers"
nm -D --defined-only "$library" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort -u >"$work/exported"
{ cat "$work/listed"; printf '%s\n' "$node"; } | sort >"$work/expected"
same expected exported "the library does not export what $map_name lists: + lines are exported but not listed, - lines are listed but not exported"
printf '%d symbols in %s\n' "$(wc -l <"$work/listed")" "$node"
