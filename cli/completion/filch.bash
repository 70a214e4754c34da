# shellcheck shell=bash
# Completion of the command filch for bash.  All names and options come from the help texts of the command.

# In a help text, names stand at the beginning of a line after two blanks.
_filch_names() {
    "$@" 2>/dev/null | sed -nE 's/^  ([a-z][A-Za-z0-9-]*)( .*)?$/\1/p'
}
# _filch_section TITLE COMMAND...: the names between the line TITLE and the next empty line.
_filch_section() {
    local title=$1
    shift
    "$@" 2>/dev/null | sed -nE "/^$title\$/,/^\$/s/^  ([A-Za-z][A-Za-z0-9-]*)( .*)?\$/\\1/p"
}
_filch_options() {
    "$@" 2>/dev/null | grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+'
}
_filch_processes() {
    "$1" top 2>/dev/null | sed -nE 's/^ *([0-9]+) .*/\1/p'
}

# The index of the program in the arguments of filch run, trace and scale, if there is one.
_filch_program_at() {
    local i
    for ((i = 2; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        --) printf '%d' $((i + 1)) && return ;;
        -w | -o | --workers | --trace | --output | --repeat | --burden | --csv | --plot) ((i++)) ;;
        -*) ;;
        *) printf '%d' "$i" && return ;;
        esac
    done
}

# _filch_values OPTION: the values of an option that is the last word; fails if it does not have a value.
_filch_values() {
    [[ "$command $1" != 'top --ranks' ]] || return 1
    case $1 in
    --runtimes) _filch_section runtimes "$tool" bench --help ;;
    --tree) _filch_section trees "$tool" cluster sim --help ;;
    --deque) printf 'locked\nbounded\nbatch\n' ;;
    --publish) printf 'lazy\neager\n' ;;
    --workers | --repeat | --size | --timeout | --steal-batch | --stack-size | --interval | --rounds | --burden | -[winr]) ;;
    --ranks | --item | --slow | --slow-factor | --latency | --jitter | --wake-up | --loot | --tries | --answer | --runs) ;;
    --outage | --outage-at | --outage-for | --silence | --seed) ;;
    *) return 1 ;;
    esac
}

# The names of a part of filch bench, or of filch bench itself.
_filch_bench_names() {
    case $1 in
    run) _filch_section workloads "$tool" bench --help ;;
    fibers) _filch_section cases "$tool" bench fibers --help ;;
    scale-out) _filch_section workloads "$tool" bench scale-out --help ;;
    jobs) ;;
    *)
        ((COMP_CWORD > 2)) || _filch_section 'other tables' "$tool" bench --help
        _filch_section workloads "$tool" bench --help
        ;;
    esac
}

_filch() {
    local tool=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} words at
    local help=("$tool" "$command")
    if [[ $command = bench && ${COMP_WORDS[2]-} = @(run|jobs|fibers|scale-out) ]] && ((COMP_CWORD > 2)); then
        help+=("${COMP_WORDS[2]}")
    fi
    if [[ $command = cluster && ${COMP_WORDS[2]-} = sim ]] && ((COMP_CWORD > 2)); then
        help+=(sim)
    fi
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        words="$(_filch_names "$tool" help) --help --version"
    elif [[ $command = @(run|trace|scale) ]] && at=$(_filch_program_at) && [[ -n $at ]]; then
        if ((at == COMP_CWORD)); then
            mapfile -t COMPREPLY < <(compgen -c -- "$word")
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
        fi
        return
    elif [[ $before = --@(plot|csv|out|output|trace) || $before = -o || $before = csv ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
    elif words=$(_filch_values "$before"); then
        :
    elif [[ $word = -* ]]; then
        words=$(_filch_options "${help[@]}" --help)
    elif [[ $command = @(top|dump) ]]; then
        words=$(_filch_processes "$tool")
    elif [[ $command = @(run|trace|scale) ]]; then
        mapfile -t COMPREPLY < <(compgen -c -- "$word")
        return
    elif [[ $command = help && $before = bench ]]; then
        words=$(_filch_section 'other tables' "$tool" bench --help)
    elif [[ $command = help && $before = cluster ]]; then
        words=$(_filch_names "$tool" cluster --help)
    elif [[ $command = help ]]; then
        words=$(_filch_names "$tool" help)
    elif [[ $command = bench ]]; then
        words=$(_filch_bench_names "${help[2]-}")
    elif [[ $command = @(lab|cluster) ]] && ((COMP_CWORD > 2)); then
        words=
    else
        words=$(_filch_names "${help[@]}" --help)
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -F _filch filch
