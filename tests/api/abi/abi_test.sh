#!/usr/bin/env bash
# abi_test.sh SOURCE-DIR LIBRARY CC: programs that were compiled with other headers than the library.
# One header has shorter structs and one has longer structs: the programs run.  One has another task layout: the
# loader refuses to run the program.
set -euo pipefail
export LC_ALL=C
source=$1 library=$2 cc=$3
here=$source/tests/api/abi
dir=$(dirname -- "$library")
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

fail() {
    printf 'FAILED: %s\n' "$1" >&2
    exit 1
}

# headers NAME SCRIPT: copy the public headers and edit them with perl.
headers() {
    mkdir -p "$work/$1/filch"
    cp -- "$source"/include/filch/*.h "$work/$1/filch/"
    perl -0pi -e "$2" "$work/$1"/filch/*.h
    ! diff -rq "$source/include/filch" "$work/$1/filch" >/dev/null || fail "the headers '$1' are unchanged"
}

# build PROGRAM SOURCE OPTIONS...: the program runs with the library under test.
build() {
    "$cc" -O2 -Wall -Wextra -Werror "${@:2}" -o "$work/$1" "-Wl,-rpath,$dir" -lfilch || fail "$1 does not build"
}

# The structs whose size the inline functions pass.  Each is used by sized.c.
sized='filch_allocator|filch_config|filch_counters|filch_deque_attr|filch_fiber_attr|filch_stats'
# shellcheck disable=SC2016
headers more 's/(\} ('"$sized"');)/    unsigned long more;\n$1/g'
# shellcheck disable=SC2016
headers fewer 's/\n[^\n;]*;[^\n;]*(\n\} ('"$sized"');)/$1/g'
build more.out "$here/sized.c" -DMORE -I "$work/more" -L "$dir"
build fewer.out "$here/sized.c" -I "$work/fewer" -L "$dir"
for which in more fewer; do
    "$work/$which.out" 2>"$work/messages" || fail "sized.c with $which fields: line $?"
    messages=$(grep -c 'has a field that this library does not know' "$work/messages" || true)
    [ "$which" = fewer ] && expected=0 || expected=5
    [ "$messages" -eq "$expected" ] || fail "sized.c with $which fields: $messages messages, not $expected"
done

# A library with another task layout, for the linker.
headers layout 's/filch_task_abi_\d+_/filch_task_abi_other_/g'
sed 's/filch_task_abi_[0-9]*_/filch_task_abi_other_/' "$source/src/filch.map" >"$work/other.map"
soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
printf 'const char filch_task_abi_other_ = 0; void filch_run_slot_(void *slot) { (void)slot; }\n' |
    "$cc" -x c -shared -fPIC - -o "$work/libfilch.so" "-Wl,--version-script=$work/other.map,-soname,$soname"
for kind in '-fno-pie -no-pie' '-fpie -pie'; do
    # shellcheck disable=SC2086
    build same.out "$here/task.c" $kind -I "$source/include" -L "$dir"
    "$work/same.out" || fail "task.c with $kind exits with $?"
    # shellcheck disable=SC2086
    build other.out "$here/task.c" $kind -I "$work/layout" -L "$work"
    ! "$work/other.out" 2>"$work/messages" || fail "a program with another task layout runs ($kind)"
    grep -q 'undefined symbol: filch_task_abi_other_' "$work/messages" ||
        fail "the loader does not name the marker of the task layout: $(cat "$work/messages")"
done
printf 'structs with more and fewer fields work, another task layout is refused\n'
