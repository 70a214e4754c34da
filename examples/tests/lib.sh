# shellcheck shell=bash
# Shared by the tests of the examples: the temporary directory $work, and checks.
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

fail() {
    printf 'FAILED: %s\n' "$1" >&2
    exit 1
}

# with WORKERS COMMAND...
with() {
    FILCH_WORKERS=$1 "${@:2}"
}

# refuses CODE COMMAND...: it must exit with this code and print one line of explanation.
refuses() {
    local code=0
    "${@:2}" >"$work/out" 2>"$work/err" || code=$?
    [ "$code" -eq "$1" ] || fail "${*:2} ended with $code, not $1"
    [ "$(wc -l <"$work/err")" -eq 1 ] || fail "${*:2} did not say why in one line"
}

# same FILE FILE WHAT
same() {
    cmp -- "$1" "$2" || fail "$3"
}
