# shellcheck shell=bash
# Completion of the command filch for bash.  All names and options come from the help texts of the command.

# In a help text, names stand at the beginning of a line after two blanks.
_filch_names() {
    "$@" 2>/dev/null | sed -nE 's/^  ([a-z][A-Za-z0-9-]*)( .*)?$/\1/p'
}
_filch_options() {
    "$@" 2>/dev/null | grep -oE '^ +(-[a-z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+'
}

# The index of the program in the arguments of filch scale, if there is one.
_filch_program_at() {
    local i
    for ((i = 2; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        --) printf '%d' $((i + 1)) && return ;;
        --workers | --repeat | --burden | --csv | --plot) ((i++)) ;;
        -*) ;;
        *) printf '%d' "$i" && return ;;
        esac
    done
}

_filch() {
    local tool=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} words at
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        words="$(_filch_names "$tool" help) --help --version"
    elif [[ $command = scale ]] && at=$(_filch_program_at) && [[ -n $at ]]; then
        if ((at == COMP_CWORD)); then
            mapfile -t COMPREPLY < <(compgen -c -- "$word")
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
        fi
        return
    elif [[ $before = --@(plot|csv|out) || $before = csv ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
    elif [[ $word = -* ]]; then
        words=$(_filch_options "$tool" "$command" --help)
    elif [[ $command = top ]]; then
        words=$("$tool" top 2>/dev/null | sed -nE 's/^ *([0-9]+) .*/\1/p')
    elif [[ $command = scale ]]; then
        mapfile -t COMPREPLY < <(compgen -c -- "$word")
        return
    else
        words=$(_filch_names "$tool" "$command" --help)
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -F _filch filch
