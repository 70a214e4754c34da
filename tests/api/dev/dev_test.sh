#!/usr/bin/env bash
# dev_test.sh DEV: ./dev on simulated machines: without the packages, without root, without sudo.  The
# tools that it calls are replaced by stubs that give known answers and record their arguments.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
dev="$work/a clone/dev"
mkdir -- "$work/a clone"
cp -- "$1" "$dev"
bin="$work/a bin"
calls=$work/calls

fail() {
    printf 'FAILED: %s: exit %d, output:\n%s\n' "$1" "$code" "$output" >&2
    exit 1
}

# pretend NAME SCRIPT: write a command that runs SCRIPT.
pretend() {
    printf '#!/bin/sh\n%s\n' "$2" >"$bin/$1"
    chmod +x "$bin/$1"
}

# machine UID DPKG-SCRIPT: a machine on which all tools only record their calls.
machine() {
    local tool
    rm -rf -- "$bin" && mkdir -p -- "$bin"
    : >"$calls"
    for tool in bash sh cat dirname env grep mkdir readlink rm tail true; do
        ln -s -- "$(command -v $tool)" "$bin/$tool"
    done
    pretend id "echo $1"
    pretend nproc 'echo 2'
    pretend dpkg-query "$2"
    for tool in apt-get cmake ctest setarch ldconfig sleep; do
        pretend "$tool" "echo $tool \"\$@\" [in \"\$PWD\"] >>'$calls'"
    done
}

# run ARGS...: run ./dev from another directory, with the stubs only, and FILCH_CC=$compiler.
compiler=
run() {
    code=0
    output=$(cd / && PATH=$bin FILCH_CC=$compiler FILCH_WERROR='' "$dev" "$@" 2>&1) || code=$?
}

# refused TEXT: the last run printed one line that contains TEXT, and called no tool.
refused() {
    [ "$code" -eq 2 ] || fail "expected to be refused"
    output_has "$1"
    [ "$(printf '%s\n' "$output" | wc -l)" -eq 1 ] || fail "expected one line"
    [ ! -s "$calls" ] || { cat "$calls" && fail "tools were called after a usage error"; }
}

output_has() {
    case $output in
    *"$1"*) ;;
    *) fail "expected to read: $1" ;;
    esac
}

called() { grep -qF -- "$1" "$calls" || { cat "$calls" && fail "expected a call of: $1"; }; }
not_called() { ! grep -qF -- "$1" "$calls" || fail "expected no call of: $1"; }

nothing_there='exit 1'
all_there='printf installed'

machine 0 "$all_there"
run frobnicate
refused "unknown command 'frobnicate'"
for command in build lint; do
    run $command everything
    refused "$command takes no arguments (got 'everything')"
done
run install --prefix=/opt
refused "install takes a directory, not an option (got '--prefix=/opt')"
run install /opt /usr
refused "install takes one directory (got '/usr' too)"
run
[ "$code" -eq 0 ] || fail "no command"
output_has 'usage: ./dev COMMAND'

# Neither root nor sudo: ./dev prints the command to run and calls no tool.
machine 1000 "$nothing_there"
for command in demo test; do
    run $command
    [ "$code" -eq 1 ] || fail "$command without packages, root and sudo"
    output_has "su -c 'apt-get update && apt-get install -y --no-install-recommends build-essential cmake "
    [ ! -s "$calls" ] || fail "$command went on without its packages"
done

# Root: missing packages are installed, and no others.
# shellcheck disable=SC2016  # $p is for the pretended dpkg-query
machine 0 'for p in "$@"; do :; done; [ "$p" = cmake ] || printf installed'
run test -R "a b"
[ "$code" -eq 0 ] || fail "test as root with one package missing"
called 'apt-get update'
called 'apt-get install -y --no-install-recommends cmake [in'
called 'cmake --preset release'
called "-R a b [in $work/a clone]"

# sudo is used if it is installed, and passes the environment.
machine 1000 "$nothing_there"
pretend sudo "echo sudo \"\$@\" >>'$calls'"
run demo
called 'sudo env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get update'
called 'sudo env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get install'

# apt-get fails: ./dev prints the command and does not build.
machine 0 "$nothing_there"
pretend apt-get 'echo E: no network; exit 100'
run test
[ "$code" -eq 1 ] || fail "apt-get fails"
output_has 'E: no network'
output_has 'cannot install the packages; run as root: apt-get update && apt-get install'
not_called cmake

# Another package manager holds a lock at the first three attempts: ./dev waits, prints one line, and continues.
held='E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt-get)'
for word in update install; do
    machine 0 "$nothing_there"
    pretend apt-get "echo apt-get \"\$@\" >>'$calls'
[ \"\$1\" != $word ] || [ \"\$(grep -c \"^apt-get $word\" '$calls')\" -gt 3 ] || { echo '$held'; exit 100; }"
    run test
    [ "$code" -eq 0 ] || fail "a lock that is held for a while at apt-get $word"
    output_has "dev: waiting for another package manager to end ($held)"
    [ "$(grep -c waiting <<<"$output")" -eq 1 ] || fail "expected one line about the wait"
    [ "$(grep -c '^sleep' "$calls")" -eq 3 ] || fail "expected three waits"
    called ctest
done
# The lock is held for ever: ./dev gives up with the reason.
machine 0 "$nothing_there"
pretend apt-get "echo '$held'; exit 100"
run test
[ "$code" -eq 1 ] || fail "a lock that is held for ever"
output_has "$held"
not_called cmake

# All packages are installed: apt-get is not called.  A failed configure or build stops the command.
machine 0 "$all_there"
run test
not_called apt-get
called 'ctest --test-dir build/release'
for step in '--preset' '--build'; do
    machine 0 "$all_there"
    pretend cmake "echo cmake \"\$@\" >>'$calls'; [ \"\$1\" != $step ]"
    run test
    [ "$code" -ne 0 ] || fail "cmake $step fails"
    not_called ctest
done

# Both sanitizers, each in its own build.
machine 0 "$all_there"
pretend setarch 'shift; exec "$@"'
run san
[ "$code" -eq 0 ] || fail "san"
called 'ctest --test-dir build/asan'
called 'ctest --test-dir build/tsan'

machine 0 "$all_there"
run asan -R deque
[ "$code" -eq 0 ] || fail "asan"
called 'ctest --test-dir build/asan'
not_called 'build/tsan'

# Each compiler has a C++ compiler of its family and a build directory of its own.
while read -r compiler cxx; do
    machine 0 "$all_there"
    pretend "$compiler" ''
    pretend cmake "echo cmake CC=\$CC CXX=\$CXX \"\$@\" >>'$calls'"
    run build
    [ "$code" -eq 0 ] || fail "FILCH_CC=$compiler"
    called "cmake CC=$compiler CXX=$cxx --preset release -B build/release-$compiler -D"
done <<'END'
cc c++
gcc g++
gcc-12 g++-12
x86_64-linux-gnu-gcc x86_64-linux-gnu-g++
clang clang++
clang-14 clang++-14
END
compiler=$bin/gcc
pretend gcc ''
run build
called "cmake CC=$bin/gcc CXX=$bin/g++ --preset release -B build/release-${bin//\//-}-gcc -D"
# A compiler that is not installed is refused before a build.
for compiler in nosuch /no/such/gcc 'gcc -m32'; do
    machine 0 "$all_there"
    run build
    refused "FILCH_CC: compiler not found ($compiler)"
done
compiler=

# A relative prefix is relative to the caller's directory.
machine 0 "$all_there"
run install "some where"
called '--prefix //some where'
not_called ldconfig
run install
called '--prefix /usr/local'
called ldconfig
printf 'dev passed\n'
