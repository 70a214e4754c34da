#!/usr/bin/env bash
# headers_test.sh INCLUDE-DIR LIBRARY-DIR FILE MPI-LIBRARY-DIR
# Each public header and the README open with a small program.  The test extracts the program of FILE,
# compiles it as C11 and as C++17 (filch.hpp: as C++17 and as C++20) with each installed compiler,
# optimised and with warnings as errors, and runs it.  It must exit with 0.
set -euo pipefail
include=$1 library=$2 file=$3 mpi_library=$4
libraries=(-L "$library" "-Wl,-rpath,$library" -lfilch)
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
warnings=(-pedantic -Wall -Wextra -Wshadow -Wundef -Werror)
runs=0

fail() {
    printf 'FAILED: %s\n' "$1" >&2
    exit 1
}

# The program in the first comment of a header: from its first #include to the } that ends main.
first_program() {
    awk '
        { sub(/^ \* ?/, "") }
        !indent && match($0, /^ +#include/) { indent = RLENGTH - 8 }
        indent { text = substr($0, indent + 1); print text }
        indent && /int main\(/ { in_main = 1 }
        in_main && text == "}" { exit }
        /\*\// { exit }' "$1"
}

# build_and_run FILE COMPILER LANGUAGE-FLAGS...
build_and_run() {
    local file=$1 compiler=$2
    shift 2
    command -v "$compiler" >/dev/null || return 0
    "$compiler" "$@" -O2 "${warnings[@]}" -I "$include" "$work/program.c" -o "$work/program" \
        "${libraries[@]}" || fail "$file: the program does not build with $compiler $*"
    "$work/program" >"$work/stdout" || fail "$file: the program, built with $compiler $*, exited with $?"
    runs=$((runs + 1))
}

# try_program FILE: build and run program.c, the program of FILE.
try_program() {
    local compiler
    grep -q '^}$' "$work/program.c" || fail "$1: the program has no end"
    [ "$(grep -c . "$work/program.c")" -le 26 ] || fail "$1: the program has more than 26 lines"
    for compiler in gcc clang; do
        case $1 in *.hpp) ;; *) build_and_run "$1" $compiler -x c -std=c11 ;; esac
    done
    for compiler in g++ clang++; do
        build_and_run "$1" $compiler -x c++ -std=c++17
        case $1 in *.hpp) build_and_run "$1" $compiler -x c++ -std=c++20 ;; esac
    done
}

# try_header PATH
try_header() {
    local header
    header=filch/$(basename -- "$1")
    first_program "$1" >"$work/program.c"
    grep -q "#include <$header>" "$work/program.c" || fail "$header does not open with a program that includes it"
    case $header in filch/cluster.h) libraries=(-L "$mpi_library" "-Wl,-rpath,$mpi_library" -lfilch-mpi "${libraries[@]}") ;; esac
    try_program "$header"
    case $header in
    filch/filch.h | filch/filch.hpp) ;;
    # The formats of files, and the header of another library, are included separately.
    filch/samples.h | filch/ranks.h | filch/cluster.h)
        ! grep -q "^#include <$header>" "$include/filch/filch.h" || fail "filch/filch.h includes $header" ;;
    *) grep -q "^#include <$header>" "$include/filch/filch.h" || fail "filch/filch.h leaves out $header" ;;
    esac
}

# The first C block of the README is a program.  The later ones are fragments.
try_readme() {
    awk '/^```$/ && on { exit } on { print } /^```c$/ { on = 1 }' "$1" >"$work/program.c"
    try_program "$(basename -- "$1")"
}

case $file in
*.h | *.hpp) try_header "$file" ;;
*) try_readme "$file" ;;
esac
[ "$runs" -gt 0 ] || fail "no compiler is installed"
printf '%d programs built and run\n' "$runs"
