# shellcheck shell=bash disable=SC2154  # filch is set by those who source this
# What the tests of the command filch share.  They source it, with the tool's path in $filch.
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
unset FILCH_BENCH_DIR FILCH_DEQUE FILCH_STEAL_BATCH FILCH_PUBLISH FILCH_STACK_SIZE

fail() {
    printf 'FAILED: %s: exit %d\nsaid: %s\ncomplained: %s\n' "$1" "$code" "$said" "$complaint" >&2
    exit 1
}

# run ARGS...: the tool, with the programs of $path; sets $said and $complaint, its two outputs, and $code.
path=$PATH
run() {
    code=0
    said=$(PATH=$path "$filch" "$@" 2>"$work/errors") || code=$?
    complaint=$(cat -- "$work/errors")
}

# runs ARGS...: and ends well.
runs() {
    run "$@"
    [ "$code" -eq 0 ] || fail "filch $*"
}

# fails CODE ARGS...
fails() {
    local expected=$1
    shift
    run "$@"
    [ "$code" -eq "$expected" ] || fail "filch $* should end with $expected"
}

says() {
    case $said in
    *"$1"*) ;;
    *) fail "expected to read: $1" ;;
    esac
}

complains() {
    case $complaint in
    *"$1"*) ;;
    *) fail "expected the complaint: $1" ;;
    esac
}

# refuses WORDS ARGS...: one line with these words in it, nothing else, and exit code 2.
refuses() {
    local words=$1
    shift
    fails 2 "$@"
    complains "$words"
    [ -z "$said" ] || fail "filch $* prints something before it refuses"
    [ "$(printf '%s\n' "$complaint" | wc -l)" -eq 1 ] || fail "filch $* does not say one line"
}
