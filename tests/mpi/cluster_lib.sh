# shellcheck shell=bash
# Sourced by the scripts that start ranks and look for processes that are left.  They set $mpi, and
# $program.
# shellcheck disable=SC2034,SC2154  # variables of the scripts

here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
# shellcheck source=SCRIPTDIR/environment.sh
. "$here/environment.sh"
work=$(mktemp -d)
tokens=() # in the arguments of all processes that the script starts
helpers=()

# shellcheck disable=SC2317  # the trap calls it
cleanup() {
    local word
    for word in "${tokens[@]}"; do pkill -KILL -f -- "$word" || true; done
    if [ ${#helpers[@]} -gt 0 ]; then
        kill -KILL "${helpers[@]}" 2>/dev/null || true
        wait "${helpers[@]}" 2>/dev/null || true
    fi
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

# A rank writes to the file itself.  The launcher of MPICH loses output of ranks that fail.
# shellcheck disable=SC2016  # the inner shell expands it
direct=(sh -c 'exec "$@" >>"$0" 2>&1' "$work/output")

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

# launch MODE VARIABLE=VALUE...: start 3 ranks of $program (cluster_hurt), and wait until each is ready.
# Sets $launcher, and pids[RANK].
launch() {
    local mode=$1 rank pid
    new_token cluster_hurt
    printf '\0\0' >"$work/shared"
    : >"$work/ready"
    : >"$work/output"
    env "${@:2}" "$here/run" "$mpi" 3 "${direct[@]}" "$program" "$mode" "$work/shared" "$work/ready" \
        "$token" >>"$work/output" 2>&1 &
    launcher=$!
    await '3 ranks that are ready' ready_is_complete
    while read -r rank pid; do pids[rank]=$pid; done <"$work/ready"
}
ready_is_complete() { [ "$(wc -l <"$work/ready")" -eq 3 ]; }

# Let the items of the modes `gate` and `idle` end.
open_gate() { printf '\1' | dd of="$work/shared" conv=notrunc status=none; }

# ends STATUS CASE: wait for the launcher, and for all processes.  STATUS is a pattern.
ends() {
    local status=0 began
    began=$(date +%s%N)
    wait "$launcher" 2>/dev/null || status=$?
    await_none
    printf '== %s, %s: status %s, all processes ended after %d ms\n' "$mpi" "$2" "$status" \
        $((($(date +%s%N) - began) / 1000000))
    # shellcheck disable=SC2254  # a pattern
    case $status in
    $1) ;;
    *) fail "$2: expected status $1, got $status" ;;
    esac
}
