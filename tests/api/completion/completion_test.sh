#!/usr/bin/env bash
# completion_test.sh FILCH FOLDER: what bash proposes after `filch` is what the tool has; the scripts of other shells are
# at least understood by these, where they are installed.
set -euo pipefail
filch=$1 folder=$2

# shellcheck source=cli/completion/filch.bash
. "$folder/filch.bash"
shopt -s extglob

fail() {
    printf 'FAILED: %s: %s\n' "$1" "${COMPREPLY[*]-}" >&2
    exit 1
}

# proposes WORDS -- WORD...: with the last of these yet to be completed.
proposes() {
    local wanted=() word
    while [ "$1" != -- ]; do wanted+=("$1") && shift; done
    shift
    COMP_WORDS=("$filch" "$@")
    COMP_CWORD=$#
    _filch
    for word in "${wanted[@]}"; do
        [[ " ${COMPREPLY[*]} " = *" $word "* ]] || fail "$* should propose $word"
    done
}
proposes_only() {
    local n=0
    for word in "$@"; do [ "$word" = -- ] && break || n=$((n + 1)); done
    proposes "$@"
    [ "${#COMPREPLY[@]}" -eq "$n" ] || fail "$* should propose no more"
}

proposes bench run scale top lab help version -- ''
proposes_only scale -- sc
proposes fib tree uts-T3 -- bench ''
proposes_only --plot -- bench --pl
proposes --deque --steal-batch --workers -- run --
proposes --measure --burden -- scale --
proposes bash -- scale bas
proposes bash -- scale --repeat 3 -- bas
proposes --interval --once -- top --
proposes peers jobs deques steals probabilities all -- lab ''

for shell in zsh fish; do
    file=$folder/_filch
    [ "$shell" = zsh ] || file=$folder/filch.fish
    if command -v "$shell" >/dev/null; then
        "$shell" -n "$file"
    else
        echo "not looked at: $file, as there is no $shell"
    fi
done
