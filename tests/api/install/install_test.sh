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

needs_shared() { readelf -d "$1" | grep -q 'NEEDED.*\[libfilch\.so\.0\]'; }

version=$(sed -n 's/^#define FILCH_VERSION_[MP][A-Z]* \([0-9]*\)$/\1/p' "$source/include/filch/version.h" | paste -sd.)

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
for file in libfilch.so libfilch.so.0 "libfilch.so.$version" libfilch.a cmake/filch/filch-config.cmake; do
    [ -e "$libdir/$file" ] || fail "$file is not installed"
done
! grep -rlF -e "$work/first" -e "$source" "$libdir/pkgconfig" "$libdir/cmake" || fail "the files above contain a path of the build"

# The shared library needs the C library only.
! readelf -d "$libdir/libfilch.so" | grep NEEDED | grep -vE '\[(libc|ld-linux[^]]*)\.so\.[0-9]+\]' || fail "the shared library needs the libraries above"

# The shared library exports filch_ names and its version name only.
shown=$(nm -D --defined-only "$libdir/libfilch.so" | awk '{ sub(/@.*/, "", $3); print $3 }')
grep -qx filch_version <<<"$shown" || fail "filch_version is not exported"
! printf '%s\n' "$shown" | grep -vE '^(filch_[a-z0-9_]+|FILCH_0)$' || fail "the names above are exported too"
# Each function of a public header is exported.
promised=$(sed -n '/^FILCH_API/,/;/p' "$source"/include/filch/*.h | grep -oE 'filch_[a-z0-9_]+\(' | tr -d '(' | sort -u)
for name in $promised; do
    grep -qx "$name" <<<"$shown" || fail "$name is declared in a public header but not exported"
    # A name that ends in _ is used by macros only.
    case $name in *_) continue ;; esac
    # Such a name needs no man page.
    [[ $name = *_ || -e "$prefix/share/man/man3/$name.3" ]] || fail "$name has no man page"
done

[ "$(pkg-config --modversion filch)" = "$version" ] || fail "filch.pc has another version than the header"
# Large frames must not skip the guard of a fiber's stack.
option=-fstack-clash-protection
cc -Werror $option -x c -c /dev/null -o "$work/empty.o" 2>/dev/null || option=
[[ " $(pkg-config --cflags filch) " = *" $option "* ]] || fail "filch.pc is without $option"
# The commands of the page, unchanged: one for each kind of program.
mapfile -t commands < <(sed -nE 's/^(\.Dl )?(cc .*)/\2/p' "$source/man/filch.7")
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
    grep -qe "$option" "$work/$way/build.ninja" || fail "$way: the targets are without $option"
    runs "$work/$way/with_shared"
    runs "$work/$way/with_static"
    needs_shared "$work/$way/with_shared" || fail "$way: filch::filch is not the shared library"
    ! needs_shared "$work/$way/with_static" || fail "$way: filch::static is not the static library"
done
printf 'filch %s can be installed, moved and used in five ways\n' "$version"
