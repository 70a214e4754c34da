#!/usr/bin/env bash
# man_examples_test.sh TREE: each display of the EXAMPLES section of the manual pages of sections 3 and
# 7 compiles by itself as C11, and those of filch.hpp(3) as C++17, with each installed compiler.  A
# display that begins with "filch: " is output.
set -euo pipefail
tree=$1
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
compiled=0

fail() {
    printf 'FAILED: %s\n' "$1" >&2
    exit 1
}

# The headers that examples leave out.
headers() {
    case $1 in *.hpp.3) printf '#include <%s>\n' filch/filch.hpp functional vector ;; esac
    printf '#include <%s>\n' filch/filch.h errno.h pthread.h signal.h stdio.h stdlib.h string.h \
        unistd.h sys/resource.h sys/socket.h
}

# displays PAGE: write display N of the examples to $work/N.code.
displays() {
    rm -f -- "$work"/*.code
    awk -v work="$work" '
        /^\.Sh / { section = $2 }
        section != "EXAMPLES" { next }
        /^\.Bd -literal/ { on = 1; file = sprintf("%s/%d.code", work, ++n); next }
        /^\.Ed/ { on = 0 }
        on { gsub(/\\e/, "\\"); sub(/^\\&/, ""); gsub(/\\-/, "-"); print > file }' "$1"
}

# compile FILE NAME: compile a display of the page.
compile() {
    local compilers=(gcc clang) language=(-x c -std=gnu11) compiler
    case $2 in *.hpp.3) compilers=(g++ clang++) language=(-x c++ -std=c++17) ;; esac
    { headers "$2" && cat -- "$1"; } >"$work/example.c"
    for compiler in "${compilers[@]}"; do
        command -v "$compiler" >/dev/null || continue
        "$compiler" "${language[@]}" -fsyntax-only -Wall -Wextra -Werror -I "$tree/include" "$work/example.c" ||
            fail "$2: example $(basename -- "$1" .code) does not compile with $compiler"
        compiled=$((compiled + 1))
    done
}

for page in "$tree"/man/*.[37]; do
    grep -q '^\.so ' "$page" && continue
    name=$(basename -- "$page")
    [ "$name" = filch.3 ] && continue # lists the functions
    displays "$page"
    case $name in *.3) [ -f "$work/1.code" ] || fail "$name has no example" ;; esac
    for code in "$work"/*.code; do
        [ -f "$code" ] || continue
        head -n 1 -- "$code" | grep -q '^filch: ' || compile "$code" "$name"
    done
done
[ "$compiled" -gt 0 ] || fail "no compiler is installed"
printf '%d examples compiled\n' "$compiled"
