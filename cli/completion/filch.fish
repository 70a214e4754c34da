# Completion of the command filch for fish.  All names and options come from the help texts of the command.

function __filch_names
    command filch $argv 2>/dev/null | sed -nE 's/^  ([a-z][A-Za-z0-9-]*)( .*)?$/\1/p'
end

function __filch_here
    set -l words (commandline -opc)
    if test (count $words) -eq 1
        __filch_names help
    else if test $words[2] = top
        command filch top 2>/dev/null | sed -nE 's/^ *([0-9]+) .*/\1/p'
    else
        __filch_names $words[2] --help
    end
end

function __filch_options
    set -l words (commandline -opc)
    test (count $words) -gt 1
    and command filch $words[2] --help 2>/dev/null | string match -r -a -- '--[a-z-]+' | sort -u
end

complete -c filch -f -a '(__filch_here)'
complete -c filch -f -n 'string match -q -- "-*" (commandline -ct)' -a '(__filch_options)'
complete -c filch -F -n '__fish_seen_subcommand_from scale'
