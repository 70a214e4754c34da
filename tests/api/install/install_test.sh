#!/usr/bin/env bash
# install_test.sh SOURCE-DIR BUILD-DIR CC: install into an empty directory, move it, and use it with the
# commands of filch(7) (shared, static, fully static), with find_package and with add_subdirectory.
set -euo pipefail
source=$1 build=$2 cc=$3
here=$source/tests/api/install
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

fail() {
    printf 'FAILED: %s\n' "$1" >&2
    exit 1
}

quietly() {
    "$@" >"$work/log" 2>&1 || { cat "$work/log" && fail "$*"; }
}

# runs PROGRAM: must print the version of the header.
runs() {
    [ "$("$1")" = "$version" ] || fail "$1 does not print $version"
}

# as_the_page_says COMMAND PROGRAM: run a command of filch(7) that compiles prog.c.
as_the_page_says() {
    cp -- "$here/program.c" "$work/prog.c"
    (cd -- "$work" && quietly eval "$1") || exit
    mv -- "$work/a.out" "$work/$2"
}

cc() { "$cc" "$@"; }

version=$(sed -n 's/^#define FILCH_VERSION_[MP][A-Z]* \([0-9]*\)$/\1/p' "$source/include/filch/version.h" | paste -sd.)
# The SONAME has the minor version while the major version is 0.
soname=libfilch.so.${version%%.*}
case $version in 0.*) soname=libfilch.so.${version%.*} ;; esac

needs_shared() { readelf -d "$1" | grep NEEDED | grep -qF "[$soname]"; }

# Installed in one directory and used in another: no file may contain the first path.
quietly cmake --install "$build" --prefix "$work/first"
mv -- "$work/first" "$work/prefix"
prefix=$work/prefix
pc=$(find "$prefix" -name filch.pc)
[ -f "$pc" ] || fail "no filch.pc was installed"
libdir=$(dirname -- "$(dirname -- "$pc")")
export PKG_CONFIG_PATH=$libdir/pkgconfig

for header in "$source"/include/filch/*.h; do
    cmp -s "$header" "$prefix/include/filch/$(basename -- "$header")" || fail "$(basename -- "$header") is not installed"
done
for page in "$source"/man/*.[1357]; do
    [ -f "$prefix/share/man/man${page##*.}/$(basename -- "$page")" ] || fail "$(basename -- "$page") is not installed"
    target=$(sed -n '1s/^\.so //p' "$page")
    [ -z "$target" ] || [ -f "$prefix/share/man/$target" ] ||
        fail "$(basename -- "$page") leads to $target, which is not installed"
done
for file in libfilch.so "$soname" "libfilch.so.$version" libfilch.a cmake/filch/filch-config.cmake; do
    [ -e "$libdir/$file" ] || fail "$file is not installed"
done
! grep -rlF -e "$work/first" -e "$source" "$libdir/pkgconfig" "$libdir/cmake" || fail "the files above contain a path of the build"

# The shared library needs the C library only.
! readelf -d "$libdir/libfilch.so" | grep NEEDED | grep -vE '\[(libc|ld-linux[^]]*)\.so\.[0-9]+\]' || fail "the shared library needs the libraries above"

# An older minor version is a different ABI while the major version is 0, and the same ABI later.
accepts() {
    IFS=. read -r major minor patch <<<"$1"
    cat >"$work/accepts.cmake" <<END
set(PACKAGE_FIND_VERSION $1)
set(PACKAGE_FIND_VERSION_MAJOR $major)
set(PACKAGE_FIND_VERSION_MINOR $minor)
set(PACKAGE_FIND_VERSION_PATCH $patch)
set(CMAKE_SIZEOF_VOID_P 8)
include($libdir/cmake/filch/filch-config-version.cmake)
message("\${PACKAGE_VERSION_COMPATIBLE}")
END
    [ "$(cmake -P "$work/accepts.cmake" 2>&1)" = TRUE ]
}
accepts "$version" || fail "the CMake package does not accept its own version"
case $version in 0.*) ! accepts 0.0.1 || fail "the CMake package accepts another minor version" ;; esac

[ "$(pkg-config --modversion filch)" = "$version" ] || fail "filch.pc has another version than the header"
# Large frames must not skip the guard of a fiber's stack.
option=-fstack-clash-protection
cc -Werror $option -x c -c /dev/null -o "$work/empty.o" 2>/dev/null || option=
[[ " $(pkg-config --cflags filch) " = *" $option "* ]] || fail "filch.pc is without $option"
# The commands of the page, unchanged: one for each kind of program.
mapfile -t commands < <(sed -nE 's/^(\.Dl )?(cc .*pkg-config.*)/\2/p' "$source/man/filch.7")
[ ${#commands[@]} -eq 3 ] || fail "filch(7) has ${#commands[@]} commands, not 3"
as_the_page_says "${commands[0]}" pc_shared
LD_LIBRARY_PATH=$libdir runs "$work/pc_shared"
needs_shared "$work/pc_shared" || fail "the program does not use the shared library"
as_the_page_says "${commands[1]}" pc_static
runs "$work/pc_static"
! needs_shared "$work/pc_static" || fail "the program uses the shared library instead of the static one"

as_the_page_says "${commands[2]}" pc_all_static
runs "$work/pc_all_static"
! readelf -d "$work/pc_all_static" | grep NEEDED || fail "the program linked with -static needs the libraries above"

for way in find_package subproject; do
    quietly env CC="$cc" cmake -S "$here/$way" -B "$work/$way" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DFILCH_SOURCE="$source"
    quietly cmake --build "$work/$way"
    [ -z "$(find "$work/$way" -name 'libfilch-mpi.*')" ] || fail "$way: libfilch-mpi is built, but no target links it"
    grep -qe "$option" "$work/$way/build.ninja" || fail "$way: the targets are without $option"
    runs "$work/$way/with_shared"
    runs "$work/$way/with_static"
    needs_shared "$work/$way/with_shared" || fail "$way: filch::filch is not the shared library"
    ! needs_shared "$work/$way/with_static" || fail "$way: filch::static is not the static library"
done
# expects NAME PROGRAM: the output of the program is that of programs/NAME.expected.
expects() {
    [ ! -e "$here/programs/$1.expected" ] || "$2" | cmp - "$here/programs/$1.expected" || fail "$2: wrong output"
}

# compile COMPILER LANGUAGE STANDARD SOURCE: with the flags of pkg-config, if the compiler is installed.
compile() {
    command -v "$1" >/dev/null || return 0
    # shellcheck disable=SC2046
    quietly "$1" -x "$2" "-std=$3" -O2 -Wall -Wextra -pedantic -Werror "$4" -o "$work/program" $(pkg-config --cflags --libs filch)
}

for file in "$here"/programs/*.c "$here"/programs/*.cpp; do
    [ -e "$file" ] || continue
    for compiler in g++ clang++; do
        compile $compiler c++ c++17 "$file"
    done
    case $file in *.c) for compiler in gcc clang; do compile $compiler c c11 "$file"; done ;; esac
    name=$(basename -- "${file%.*}")
    LD_LIBRARY_PATH=$libdir expects "$name" "$work/program"
    expects "$name" "$work/find_package/$name"
done
# A serial build needs the installed headers alone.
quietly cc -std=c11 -O2 -DFILCH_SERIAL -I "$prefix/include" "$here/programs/fib.c" -o "$work/serial"
expects fib "$work/serial"
printf 'filch %s can be installed, moved and used in five ways\n' "$version"
