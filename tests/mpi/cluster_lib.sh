# shellcheck shell=bash
# Sourced by the scripts that start ranks and look for processes that are left.  They set $mpi, and
# call `start_lib`.

here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
work=$(mktemp -d)
tokens=() # in the arguments of all processes that the script starts
helpers=()

# shellcheck disable=SC2317  # the trap calls it
cleanup() {
    local word
    for word in "${tokens[@]}"; do pkill -KILL -f -- "$word" || true; done
    if [ ${#helpers[@]} -gt 0 ]; then kill -KILL "${helpers[@]}" 2>/dev/null || true; fi
    rm -rf -- "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

fail() {
    printf 'FAILED: %s: %s\n' "$mpi" "$1" >&2
    if [ -s "$work/output" ]; then sed 's/^/    /' <"$work/output" >&2; fi
    exit 1
}

# new_token NAME: set $token, a word for the arguments of the next processes.
new_token() {
    token=$1-$$-$RANDOM
    tokens+=("$token")
}

# Wait until no process has the token in its arguments.  The time limit of the test is the limit.
await_none() {
    while pgrep -f -- "$token" >/dev/null; do sleep 0.02; done
}

# await TEXT COMMAND...: wait until the command succeeds.  Ends when the launcher does.
await() {
    local what=$1
    shift
    while ! "$@"; do
        kill -0 "$launcher" 2>/dev/null || "$@" || fail "no $what before the end of the launcher"
        sleep 0.02
    done
}

# has N PATTERN: fail unless the output has N lines that match the extended regular expression.
has() {
    local n
    n=$(grep -Ec -- "$2" "$work/output" || true)
    [ "$n" -eq "$1" ] || fail "expected $1 lines with '$2', got $n"
}
