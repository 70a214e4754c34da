#!/usr/bin/env bash
# settings_test.sh PROGRAM: the environment reaches a program that sets nothing itself, every kind of deque
# and every way to publish gives right results, and an invalid value is reported and ignored.
set -euo pipefail
program=$1

fail() {
    printf 'FAILED: %s\n' "$1" >&2
    exit 1
}

for deque in locked bounded batch; do
    for publish in lazy eager; do
        for pin in none cpu; do
            FILCH_DEQUE=$deque FILCH_PUBLISH=$publish FILCH_AFFINITY=$pin FILCH_WORKERS=3 FILCH_STACK_SIZE=64k \
                FILCH_SEARCH_NS=0 FILCH_NAME=tiny "$program" >/dev/null || fail "$deque $publish $pin"
        done
    done
done
for n in 1 2 4 8 64; do
    output=$(FILCH_WORKERS=$n "$program")
    [ "$output" = "$n workers" ] || fail "FILCH_WORKERS=$n: $output"
done
# is_named MESSAGE VARIABLE=VALUE: the value is reported.  It is ignored, or with FILCH_STRICT=1 the runtime does not start: then the
# program runs on the calling thread alone and prints 0 workers.
is_named() {
    local output
    output=$(env "$2" "$program" 2>&1) || fail "$2 ended the program: $output"
    # shellcheck disable=SC2027  # the message is a pattern
    [[ $output = *"filch: ${2%%=*}: "$1"; the value is ignored"* ]] || fail "$2 is not named: $output"
    [[ $output != *"0 workers"* ]] || fail "$2: no runtime: $output"
    output=$(FILCH_STRICT=1 env "$2" "$program" 2>&1) || fail "$2 with FILCH_STRICT=1 ended the program: $output"
    [[ $output = *"filch: ${2%%=*}: "$1$'\n'"filch: cannot start the runtime"*"0 workers" ]] || fail "$2 with FILCH_STRICT=1: $output"
    [ "$(grep -c '^filch: ' <<<"$output")" -eq 2 ] || fail "$2 with FILCH_STRICT=1 is reported more than once: $output"
}
is_named "invalid number ('many'); use 1 to 1024" FILCH_WORKERS=many
is_named "the owner of this deque pops the oldest task, not the newest ('half'); use locked, bounded or batch" FILCH_DEQUE=half

# The table at each of its two stops: a row for each counter, a column for each of three workers, and nothing else.
output=$(FILCH_STATS=1 FILCH_WORKERS=3 "$program" 2>&1 >/dev/null)
[[ $output = "filch: counters of 3 workers, "* ]] || fail "no table: $output"
[ "$(grep -Ec '^[a-z_]+( +[0-9]+){4}$' <<<"$output")" -eq "$(($(wc -l <<<"$output") - 4))" ] || fail "rows: $output"
grep -q '^steals_failed ' <<<"$output" || fail "a counter is missing: $output"
[ -z "$(FILCH_STATS=0 "$program" 2>&1 >/dev/null)" ] || fail "a table that was not requested"
is_named "unknown value ('yes'); use 0 or 1" FILCH_STATS=yes
is_named "unknown value ('x'); use abort, report or off" FILCH_DEADLOCK=x
is_named "not a signal that can be used ('SEGV'); use a signal such as QUIT or USR1" FILCH_DUMP_SIGNAL=SEGV
is_named "too long ('eleven chars'); use up to 10 bytes" "FILCH_NAME=eleven chars"
for invalid in FILCH_TRACE_MS=soon FILCH_TRACE_EVENTS=1 FILCH_SAMPLE_CPU=x FILCH_SAMPLE_NS=-1 FILCH_SCALE_BURDEN_NS=much FILCH_STACK_SIZE=1 \
    FILCH_BLOCKING_THREADS=0 FILCH_WATCHDOG_MS=x FILCH_SEARCH_NS=x FILCH_STEAL_BATCH=0; do
    is_named "invalid number ('${invalid#*=}'); use *" $invalid
done
output=$(FILCH_STRICT=maybe "$program" 2>&1) || fail "FILCH_STRICT=maybe ended the program"
[[ $output = *"filch: FILCH_STRICT: unknown value ('maybe'); use 0 or 1; the value is ignored"* ]] || fail "FILCH_STRICT=maybe: $output"
