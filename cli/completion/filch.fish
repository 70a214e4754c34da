# Completion of the command filch for fish.  All names and options come from the help texts of the command.

function __filch_names
    command filch $argv 2>/dev/null | sed -nE 's/^  ([a-z][A-Za-z0-9-]*)( .*)?$/\1/p'
end

# __filch_section TITLE COMMAND...: the names between the line TITLE and the next empty line.
function __filch_section
    command filch $argv[2..-1] 2>/dev/null | sed -nE "/^$argv[1]\$/,/^\$/s/^  ([A-Za-z][A-Za-z0-9-]*)( .*)?\$/\\1/p"
end

# The command of the line: its name, and the part of `bench` or `cluster`.
function __filch_command
    set -l words (commandline -opc)
    if test (count $words) -gt 2; and test $words[2] = bench; and contains -- $words[3] run jobs fibers scale-out
        printf '%s\n' $words[2..3]
    else if test (count $words) -gt 2; and test "$words[2..3]" = "cluster sim"
        printf '%s\n' $words[2..3]
    else
        printf '%s\n' $words[2]
    end
end

function __filch_bench_names
    set -l words (commandline -opc)
    switch "$words[3]"
        case run
            __filch_section workloads bench --help
        case fibers
            __filch_section cases bench fibers --help
        case scale-out
            __filch_section workloads bench scale-out --help
        case jobs
        case '*'
            test (count $words) -gt 2; or __filch_section 'other tables' bench --help
            __filch_section workloads bench --help
    end
end

function __filch_here
    set -l words (commandline -opc)
    if test "$words[2..-1]" = "help cluster"
        __filch_names cluster --help
        return
    end
    if test (count $words) -eq 1; or test $words[2] = help
        __filch_names help
        return
    end
    switch $words[-1]
        case --runtimes
            __filch_section runtimes bench --help
        case --tree
            __filch_section trees cluster sim --help
        case --deque
            printf '%s\n' locked bounded batch
        case --publish
            printf '%s\n' lazy eager
        case --workers --repeat --size --timeout --steal-batch --stack-size --interval --rounds --burden -w -i -n -r
        case --item --slow --slow-factor --latency --jitter --wake-up --loot --tries --answer --runs
        case --outage --outage-at --outage-for --silence --seed
        case --plot --csv --out --output --trace -o csv
            __fish_complete_path (commandline -ct)
        case '*'
            if contains $words[2] top dump
                command filch top 2>/dev/null | sed -nE 's/^ *([0-9]+) .*/\1/p'
            else if test $words[2] = bench
                __filch_bench_names
            else if test (count $words) -eq 2
                __filch_names $words[2] --help
            end
    end
end

function __filch_options
    set -l words (commandline -opc)
    test (count $words) -gt 1
    and command filch (__filch_command) --help 2>/dev/null | string match -r -a -- '--[a-z-]+' | sort -u
end

complete -c filch -f -a '(__filch_here)'
complete -c filch -f -n 'string match -q -- "-*" (commandline -ct)' -a '(__filch_options)'
complete -c filch -F -n '__fish_seen_subcommand_from run trace scale'
