# shellcheck shell=bash disable=SC2154  # work and filch are set by lib.sh and the script that sources it
# Stub programs for the tests of `filch lab`.  Each prints a line like the real program, with times that depend on the runtime
# only, and appends its name and settings to $calls.  If samples are requested, it copies those of a real program.  Source this
# file after lib.sh.
calls=$work/calls
lab_programs=$work/programs

pretend_programs() {
    local name program
    mkdir -p -- "$lab_programs"
    FILCH_SAMPLE=$work/samples FILCH_PUBLISH=eager "${filch%/*}/programs/fib-filch" -n 15 >/dev/null
    cat >"$lab_programs/pretender" <<END
#!/bin/sh
name=\${0##*/}
program=\${name%%-*} runtime=\${name#*-}
r=1 w=1 i=
while getopts w:r:i:n:q o; do eval "\$o=\\\$OPTARG"; done
echo "\$name \$w\${FILCH_PUBLISH:+ }\$FILCH_PUBLISH" >>'$calls'
[ ! -e '$work/stops' ] || [ "\$(wc -l <'$calls')" -ne "\$(cat '$work/stops')" ] || {
    : >'$work/stopped'
    exec sleep 1000
}
[ ! -e '$work/fails' ] || [ "\$(cat '$work/fails')" != "\$name" ] || {
    echo 'it hurts' >&2
    exit 3
}
case \$runtime in
filch*) s=0.001 ns=10 ;;
tbb | lock-free | bounded | batch | half) s=0.002 ns=12 ;;
allocator) s=0.004 ns=1 ;;
*) s=0.008 ns=40 ;;
esac
[ -z "\$FILCH_SAMPLE" ] || cp -- '$work/samples' "\$FILCH_SAMPLE"
samples=\$s figures=\$ns
while [ \$r -gt 1 ]; do samples=\$samples,\$s figures=\$figures,\$ns r=\$((r - 1)); done
echo "{\"workload\":\"\$program\${i:+-}\$i\",\"runtime\":\"\$runtime\",\"compiler\":\"gcc\",\"size\":35,\"workers\":\$w," \\
    "\"spawns\":5,\"result\":7,\"peak_kb\":100,\"samples\":[\$samples],\"metrics\":{\"ns\":[\$figures]}}"
END
    chmod +x "$lab_programs/pretender"
    for program in fib knapsack matmul sort tree; do
        for name in serial filch tbb libgomp libomp; do ln -s pretender "$lab_programs/$program-$name"; done
    done
    for name in basic allocator lock-free filch filch-group filch-job; do ln -s pretender "$lab_programs/jobs-$name"; done
    for name in plain locked bounded batch half; do ln -s pretender "$lab_programs/deque-$name"; done
}

calls_made() { wc -l <"$calls"; }
