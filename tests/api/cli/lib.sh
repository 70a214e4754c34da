# shellcheck shell=bash disable=SC2154  # filch is set by the script that sources this
# Functions for the tests of the command filch.  They source this file after they have set $filch to its path.
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
unset FILCH_BENCH_DIR FILCH_DEQUE FILCH_STEAL_BATCH FILCH_PUBLISH FILCH_STACK_SIZE

fail() {
    printf 'FAILED: %s: exit %d\nstdout: %s\nstderr: %s\n' "$1" "$code" "$stdout" "$stderr" >&2
    exit 1
}

# run ARGS...: run filch with PATH=$path; set $stdout, $stderr and $code (exit status).
path=$PATH
run() {
    code=0
    stdout=$(PATH=$path "$filch" "$@" 2>"$work/errors") || code=$?
    stderr=$(cat -- "$work/errors")
}

# runs ARGS...: run, and expect exit status 0.
runs() {
    run "$@"
    [ "$code" -eq 0 ] || fail "filch $*"
}

# fails CODE ARGS...
fails() {
    local expected=$1
    shift
    run "$@"
    [ "$code" -eq "$expected" ] || fail "filch $*: expected exit status $expected"
}

stdout_has() {
    case $stdout in
    *"$1"*) ;;
    *) fail "expected on stdout: $1" ;;
    esac
}

stderr_has() {
    case $stderr in
    *"$1"*) ;;
    *) fail "expected on stderr: $1" ;;
    esac
}

# rejects TEXT ARGS...: expect exit status 2, one line on stderr that contains TEXT, and no output.
rejects() {
    local text=$1
    shift
    fails 2 "$@"
    stderr_has "$text"
    [ -z "$stdout" ] || fail "filch $* prints to stdout before the usage error"
    [ "$(printf '%s\n' "$stderr" | wc -l)" -eq 1 ] || fail "filch $* does not print one line to stderr"
}

# await WHAT COMMAND...: repeat the command until it succeeds, at most ten minutes.
await() {
    local what=$1 end=$((SECONDS + 600))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || fail "waited ten minutes: $what"
        sleep 0.02
    done
}

# start: run $waits with two workers until `stop`, and set $pid.  The output of the previous one is removed here: the
# background process may empty the file only after is_ready has read it.
start() {
    : >"$work/output"
    FILCH_WORKERS=2 "$waits" <"$work/input" >"$work/output" &
    pid=$!
    exec 3>"$work/input"
    await "$waits prints 'ready'" is_ready
}
is_ready() {
    kill -0 "$pid" 2>/dev/null || fail "$waits does not start or ends early"
    grep -q ready "$work/output"
}
stop() {
    exec 3>&-
    wait "$pid"
}

# skip_without_rights: end the test if filch may not read the memory of $pid, as under Yama or in a container.
skip_without_rights() {
    run top --once -i 100 "$pid"
    case $stderr in
    *'not permitted'* | *'not implemented'*)
        stop
        printf 'skipped: %s\n' "$stderr"
        exit 77
        ;;
    esac
}
