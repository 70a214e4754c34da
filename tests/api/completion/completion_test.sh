#!/usr/bin/env bash
# completion_test.sh FILCH DIRECTORY: bash proposes the commands and options of filch.  The scripts of other shells are checked
# for syntax errors, if the shell is installed.
set -euo pipefail
filch=$1 folder=$2

# shellcheck source=cli/completion/filch.bash
. "$folder/filch.bash"
shopt -s extglob

fail() {
    printf 'FAILED: %s: %s\n' "$1" "${COMPREPLY[*]-}" >&2
    exit 1
}

# proposes PROPOSALS -- ARG...: expect these proposals for the last ARG.
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
        echo "$file is not checked: $shell is not installed"
    fi
done
