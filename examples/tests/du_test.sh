#!/usr/bin/env bash
# du_test.sh PROGRAM MPI PLUGIN_DIR: compare with du and find.
set -euo pipefail
# shellcheck source=examples/tests/ranks.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/ranks.sh"
tree=$work/tree
each=$((20 / ${FILCH_TEST_SCALE:-1}))

# Wide and deep, with files of all kinds.
make_tree() {
    local i j deep=$tree
    for ((i = 0; i < each; i++)); do
        mkdir -p "$tree/wide $i/empty"
        for ((j = 0; j <= i; j++)); do head -c $((i * j * 97)) /dev/zero >"$tree/wide $i/$j"; done
    done
    for ((i = 0; i < 10 * each; i++)); do deep+=/d$i; done
    mkdir -p "$deep"
    echo text >"$deep/file"
    truncate -s 10M "$tree/sparse"
    ln "$deep/file" "$tree/second name"
    ln -s / "$tree/link to a directory"
    ln -s nowhere "$tree/broken link"
    mkfifo "$tree/fifo"
}

# expect SIZE DIRECTORY: the line that the program must print.
expect() {
    local files directories
    files=$(find "$2" ! -type d -printf x | wc -c)
    directories=$(find "$2" -type d -printf x | wc -c)
    printf '%d bytes, %d files, %d directories\n' "$1" "$files" "$directories"
}

# check COUNT DIRECTORY
check() {
    local usage apparent
    usage=$(du -sl --block-size=1 -- "$2" | cut -f 1)
    apparent=$(find "$2" \( -type f -o -type l \) -printf '%s\n' | awk '{ n += $1 } END { printf "%.0f", n }')
    [ "$(ranks "$1" "$2")" = "$(expect "$usage" "$2")" ] ||
        fail "$mpi, $1 ranks, $2: not the disk usage $(expect "$usage" "$2")"
    [ "$(ranks "$1" -a "$2")" = "$(expect "$apparent" "$2")" ] ||
        fail "$mpi, $1 ranks, -a $2: not the size $(expect "$apparent" "$2")"
}

# A path that does not exist is an error, and the rest is counted.
check_error() {
    local status=0
    ranks "$1" "$work/nowhere" >"$work/out" 2>"$work/err" || status=$?
    [ "$status" -ne 0 ] || fail "$mpi, $1 ranks: status 0 without the directory"
    grep -q "du: $work/nowhere: No such file" "$work/err" || fail "$mpi, $1 ranks: no message"
    grep -qx '0 bytes, 0 files, 0 directories' "$work/out" || fail "$mpi, $1 ranks: no total"
}

make_tree
for count in "${counts[@]}"; do
    check "$count" "$tree"
    check_error "$count"
done
check 1 "$tree/sparse" # a file instead of a directory
if [ "$mpi" = one ]; then
    # A directory that root cannot read either: it is deeper than a path can name.
    (
        cd -- "$tree"
        name=$(printf '%0200d' 0)
        for ((i = 0; i < 25; i++)); do
            mkdir "$name"
            cd -- "$name"
        done
    )
    code=0
    "$program" "$tree" >"$work/out" 2>"$work/err" || code=$?
    [ "$code" -eq 1 ] || fail "a path that is too long: status $code"
    grep -q 'File name too long' "$work/err" || fail 'a path that is too long: no message'
    grep -q '^du: errors: 1$' "$work/err" || fail 'a path that is too long: not counted'
    refuses 2 "$program" -x "$tree"
    code=0
    "$program" 2>/dev/null || code=$?
    [ "$code" -eq 2 ] || fail 'no directory: not refused'
    "$program" -h | grep -q usage || fail '-h does not help'
fi
