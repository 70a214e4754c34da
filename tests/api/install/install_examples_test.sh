#!/usr/bin/env bash
# install_examples_test.sh SOURCE-DIR BUILD-DIR CC: install, and build examples in a copy of the
# installed ones: with their Makefile, and with the commands of the tutorial.
set -euo pipefail
source=$1 build=$2 cc=$3
for needed in make pkg-config; do
    command -v "$needed" >/dev/null && continue
    printf 'skipped: %s is not installed\n' "$needed"
    exit 77
done
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
compiled=0

fail() {
    printf 'FAILED: %s\n' "$1" >&2
    exit 1
}

quietly() {
    "$@" >"$work/log" 2>&1 || { cat "$work/log" && fail "$*"; }
}

cc() { command "$cc" "$@"; }

quietly cmake --install "$build" --prefix "$work/prefix"
doc=$work/prefix/share/doc/filch
pc=$(find "$work/prefix" -name filch.pc)
export PKG_CONFIG_PATH=${pc%/*}
[ -f "$doc/docs/tutorial.md" ] || fail "the tutorial is not installed"
[ ! -e "$doc/examples/tests" ] || fail "the tests of the examples are installed"
cp -r -- "$doc/examples" "$work/examples"
cd -- "$work/examples"

# The Makefile has a target for each program, and each of them finds all its sources.
make -n all mpi search >"$work/commands" 2>/dev/null || fail "make -n all mpi search"
mapfile -t files < <(cd -- "$source/examples" && grep -lE '^int main\(' -- *.c *.cpp tutorial/*.c)
[ ${#files[@]} -gt 5 ] || fail "$source/examples has only ${#files[@]} programs"
for file in "${files[@]}"; do
    grep -q -e "-o ${file%.*} $file " "$work/commands" || fail "the Makefile does not build $file"
done

quietly make -j1 CC="$cc" hello_for proxy
quietly bash "$source/examples/tests/output_test.sh" hello_for.c ./hello_for
./proxy -h | grep -q usage || fail "the installed proxy does not run"

cd -- tutorial
while read -r command; do
    quietly eval "$command"
    compiled=$((compiled + 1))
done < <(sed -n 's/^\$ \(cc .*\)/\1/p' "$doc/docs/tutorial.md")
[ "$compiled" -eq 5 ] || fail "the tutorial compiles $compiled programs, not 5"
LD_LIBRARY_PATH=$(pkg-config --variable=libdir filch) quietly \
    bash "$source/examples/tests/tutorial_test.sh" "$doc/docs/tutorial.md" 1_loop.c ./1_loop
printf 'the installed examples build and run\n'
