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

proposes run trace scale top dump info bench lab cluster help version -- ''
proposes_only scale -- sc
proposes fib tree uts-T3 run jobs fibers scale-out -- bench ''
proposes_none() {
    local word=$1
    shift
    proposes -- "$@"
    [[ " ${COMPREPLY[*]} " != *" $word "* ]] || fail "$* should not propose $word"
}
proposes_none libgomp bench ''
proposes_none timers bench ''
proposes_none jobs bench fib ''
proposes_only filch -- bench --runtimes 'fi'
proposes_none fib bench --runtimes ''
proposes_only locked bounded batch -- bench run fib --deque ''
proposes_only lazy eager -- bench run fib --publish ''
proposes_only -- bench run fib --size ''
proposes_only -- bench jobs ''
proposes --plot --repeat -- bench jobs --
proposes_none --runtimes bench jobs --
proposes_none --plot bench fibers --
proposes_only fib tree loop sort channel http -- bench scale-out ''
proposes_none --plot bench scale-out --
proposes_none loop bench ''
proposes --version --help -- bench --
proposes_only --plot -- bench --pl
proposes --deque --steal-batch --workers -- bench run --
proposes fib tree -- bench run ''
proposes --workers --stats --trace -- run --
proposes --output -- trace --
proposes bash -- run -w 2 -- bas
proposes bash -- trace -o x bas
proposes run trace bench -- help ''
proposes --measure --burden -- scale --
proposes bash -- scale bas
proposes bash -- scale --repeat 3 -- bas
proposes --json -- info --
proposes --interval --once -- top --
proposes peers jobs deques steals probabilities all report csv -- lab ''
proposes_only -- lab peers ''
proposes run jobs fibers scale-out -- help bench ''
proposes_only sim -- cluster ''
proposes_only sim -- help cluster ''
proposes_only --help --version -- cluster --
proposes --tree --ranks --outage-for -- cluster sim --
proposes_only G13 B13 G9 B9 -- cluster sim --tree ''
proposes_only G13 G9 -- cluster sim --tree G
proposes_only -- cluster sim --ranks ''
proposes_only -- cluster sim ''
proposes --once -- top --ranks --

for shell in zsh fish; do
    file=$folder/_filch
    [ "$shell" = zsh ] || file=$folder/filch.fish
    if command -v "$shell" >/dev/null; then
        "$shell" -n "$file"
    else
        echo "$file is not checked: $shell is not installed"
    fi
done
