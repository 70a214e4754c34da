#!/usr/bin/env bash
# settings_test.sh PROGRAM: the environment reaches a program that sets nothing itself, every kind of deque
# and every way to publish gives right results, and an invalid value ends it with a message.
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
if output=$( (ulimit -c 0 && FILCH_WORKERS=many exec "$program") 2>&1); then fail "an invalid value was accepted"; fi
[[ $output = *"filch: FILCH_WORKERS: invalid number ('many'); use 1 to "* ]] || fail "the invalid value is not named: $output"
if output=$( (ulimit -c 0 && FILCH_DEQUE=half exec "$program") 2>&1); then fail "a FIFO deque was accepted"; fi
[[ $output = *"filch: FILCH_DEQUE: the owner of this deque pops the oldest task"*" ('half'); use locked, bounded or batch"* ]] ||
    fail "the FIFO deque is not named: $output"

# The table at each of its two stops: a row for each counter, a column for each of three workers, and nothing else.
output=$(FILCH_STATS=1 FILCH_WORKERS=3 "$program" 2>&1 >/dev/null)
[[ $output = "filch: what 3 workers did in "* ]] || fail "no table: $output"
[ "$(grep -Ec '^[a-z_]+( +[0-9]+){4}$' <<<"$output")" -eq "$(($(wc -l <<<"$output") - 4))" ] || fail "rows: $output"
grep -q '^steals_failed ' <<<"$output" || fail "a counter is missing: $output"
[ -z "$(FILCH_STATS=0 "$program" 2>&1 >/dev/null)" ] || fail "a table that was not requested"
for invalid in FILCH_STATS=yes FILCH_TOP=2 FILCH_TRACE_MS=soon FILCH_TRACE_EVENTS=1 FILCH_SAMPLE_CPU=x FILCH_SAMPLE_NS=-1 \
    FILCH_SCALE_BURDEN_NS=much; do
    if output=$( (ulimit -c 0 && env "$invalid" "$program") 2>&1); then fail "$invalid was accepted"; fi
    [[ $output = *"filch: ${invalid%=*}: "*" ('${invalid#*=}'); use "* ]] || fail "$invalid is not named: $output"
done
