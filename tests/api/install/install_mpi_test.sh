#!/usr/bin/env bash
# install_mpi_test.sh SOURCE-DIR BUILD-DIR CC: install into an empty directory, move it, and use
# libfilch-mpi with the commands of filch-cluster(7), with find_package and with add_subdirectory.
# Each program runs as one process, which loads no MPI, and under each MPI that is installed.
set -euo pipefail
source=$1 build=$2 cc=$3
here=$source/tests/api/install
queens=$source/examples/queens.c
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
runs=0
unset FILCH_MPI_PLUGIN_DIR FILCH_CLUSTER

fail() {
    printf 'FAILED: %s\n' "$1" >&2
    exit 1
}

quietly() {
    "$@" >"$work/log" 2>&1 || { cat "$work/log" && fail "$*"; }
}

cc() { "$cc" "$@"; }

quietly cmake --install "$build" --prefix "$work/first"
mv -- "$work/first" "$work/prefix"
libdir=$(dirname -- "$(dirname -- "$(find "$work/prefix" -name filch-mpi.pc)")")
[ -f "$libdir/pkgconfig/filch-mpi.pc" ] || fail "filch-mpi.pc is not installed"
export PKG_CONFIG_PATH=$libdir/pkgconfig LD_LIBRARY_PATH=$libdir

for file in libfilch-mpi.so libfilch-mpi.a; do
    [ -e "$libdir/$file" ] || fail "$file is not installed"
done
[ "$(pkg-config --modversion filch-mpi)" = "$(pkg-config --modversion filch)" ] ||
    fail "filch-mpi.pc and filch.pc have different versions"
mpis=()
for mpi in openmpi mpich; do
    [ -e "$build/cluster/filch-mpi-$mpi.so" ] || continue
    [ -e "$libdir/filch/filch-mpi-$mpi.so" ] || fail "the plugin for $mpi is not installed"
    mpis+=("$mpi")
done

# needs FILE: the shared libraries that it needs, except the C library.
needs() {
    readelf -d "$1" | sed -nE '/\[(libc|ld-linux.*)\.so/d; s/.*NEEDED.*\[(.*)\]/\1/p'
}
others=$(needs "$libdir/libfilch-mpi.so" | sed '/^libfilch\.so/d' | paste -sd' ')
[ -z "$others" ] || fail "libfilch-mpi.so needs $others"
! nm "$libdir/libfilch-mpi.a" 2>/dev/null | grep -E ' U P?MPI_' ||
    fail "libfilch-mpi.a uses the symbols above"

# alone PROGRAM: it runs as one process, and loads neither a plugin nor MPI.
alone() {
    local output
    output=$(env LD_DEBUG=libs "LD_DEBUG_OUTPUT=$work/loads" "$1" 8)
    [ "$output" = '8 queens: 92' ] || fail "$1 as one process: $output"
    grep -q 'calling init' "$work"/loads.* || fail "the loader does not say what it loads"
    ! grep -E 'calling init: .*(mpi[-.c]|mpich|open-(pal|rte)|pmix|pmi)' "$work"/loads.* |
        grep -v 'libfilch-mpi\.so' || fail "$1 loads the libraries above"
    rm -f -- "$work"/loads.*
    runs=$((runs + 1))
}

# together PROGRAM: the same result with two ranks of each MPI.
together() {
    local mpi output status
    for mpi in "${mpis[@]}"; do
        status=0
        output=$("$source/tests/mpi/run" "$mpi" 2 "$1" 8) || status=$?
        if [ "$status" -eq 77 ]; then
            printf '%s\n' "$output"
            continue
        fi
        [ "$status:$output" = '0:8 queens: 92' ] ||
            fail "$1 with 2 ranks of $mpi: status $status, $output"
        runs=$((runs + 1))
    done
}

# The commands of the page, unchanged: with the shared library and with the static one.
mapfile -t commands < <(sed -nE 's/^(\.Dl )?(cc .*pkg-config.*)/\2/p' "$source/man/filch-cluster.7")
[ ${#commands[@]} -eq 2 ] || fail "filch-cluster(7) has ${#commands[@]} commands, not 2"
cp -- "$queens" "$work/prog.c"
for name in shared static; do
    (cd -- "$work" && quietly eval "${commands[0]}") || exit
    commands=("${commands[@]:1}")
    mv -- "$work/a.out" "$work/pc_$name"
    alone "$work/pc_$name"
done
case $(needs "$work/pc_shared") in
*libfilch-mpi.so*) ;;
*) fail "the program does not use the shared library" ;;
esac
[ -z "$(needs "$work/pc_static")" ] || fail "the static program needs a shared library"
together "$work/pc_shared"
# The program is not beside the plugins.
FILCH_MPI_PLUGIN_DIR=$libdir/filch together "$work/pc_static"

unset LD_LIBRARY_PATH
for way in find_package subproject; do
    from=(-DCMAKE_PREFIX_PATH="$work/prefix")
    [ "$way" = find_package ] || from=(-DFILCH_SOURCE="$source")
    quietly env CC="$cc" cmake -S "$here/mpi" -B "$work/$way" -G Ninja \
        -DQUEENS="$queens" "${from[@]}"
    quietly cmake --build "$work/$way"
    for name in with_shared with_static; do
        alone "$work/$way/$name"
        # An installed library that was moved knows its plugins only if it is shared.
        if [ "$way:$name" = find_package:with_static ]; then
            FILCH_MPI_PLUGIN_DIR=$libdir/filch together "$work/$way/$name"
        else
            together "$work/$way/$name"
        fi
    done
done
printf '%d runs of queens on an installation that was moved, and in a project\n' "$runs"
