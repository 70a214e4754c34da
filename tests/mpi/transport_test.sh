#!/usr/bin/env bash
# transport_test.sh PROGRAM PLUGIN_DIR {openmpi|mpich|launch}: run PROGRAM (transport_test) under
# this MPI.  `launch` starts no rank: it checks which transport the launcher's variables select.
set -euo pipefail
program=$(readlink -f -- "$1")
plugins=$2
mpi=$3
run=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/run
cases=0
under=()

fail() {
    printf 'FAILED: %s\n' "$1" >&2
    exit 1
}

# ranks N MODE: run PROGRAM with N ranks.
ranks() {
    local status=0
    printf '== %s, %s ranks, %s\n' "$mpi" "$1" "$2"
    FILCH_MPI_PLUGIN_DIR=$plugins "$run" "$mpi" "$1" "${under[@]}" "$program" "$2" || status=$?
    if [ "$status" -eq 77 ]; then exit 77; fi
    if [ "$status" -ne 0 ]; then fail "$mpi, $1 ranks, $2: status $status"; fi
    cases=$((cases + 1))
}

# choose STATUS TEXT NAME VARIABLE=VALUE...: the exit status and a part of the output of
# `PROGRAM choose NAME` with these variables only.
choose() {
    local expected=$1 text=$2 name=$3 status=0 output
    shift 3
    output=$(env -i "$@" "$program" choose "$name" 2>&1) || status=$?
    case $status:$output in
    "$expected":*"$text"*) ;;
    *) fail "choose $name ($*): expected $expected and '$text', got $status and: $output" ;;
    esac
    cases=$((cases + 1))
}

launch() {
    local nowhere='FILCH_MPI_PLUGIN_DIR=/nonexistent' fake
    fake=$(mktemp -d)
    # shellcheck disable=SC2064  # expand it now
    trap "rm -rf -- '$fake'" EXIT
    # One rank, without a launcher.
    if ! env -i "$program" all; then fail 'one rank without a launcher'; fi
    cases=$((cases + 1))
    choose 0 'one 1 0' auto
    choose 0 'one 1' one OMPI_COMM_WORLD_SIZE=2
    choose 1 'needs an MPI launcher' mpi
    choose 1 "unknown transport ('tcp')" tcp OMPI_COMM_WORLD_SIZE=2
    choose 1 filch-mpi-openmpi.so auto "$nowhere" OMPI_COMM_WORLD_SIZE=2
    choose 1 filch-mpi-openmpi.so mpi "$nowhere" PMIX_RANK=0
    choose 1 filch-mpi-mpich.so auto "$nowhere" PMI_SIZE=2
    choose 1 filch-mpi-mpich.so auto "$nowhere" PMI_RANK=1
    # A file that is not a plugin is named, too.
    echo text >"$fake/filch-mpi-mpich.so"
    choose 1 "$fake/filch-mpi-mpich.so" auto "FILCH_MPI_PLUGIN_DIR=$fake" PMI_SIZE=2
    if [ -e "$plugins/filch-mpi-openmpi.so" ]; then
        choose 0 'mpi 2 -1' auto "FILCH_MPI_PLUGIN_DIR=$plugins" OMPI_COMM_WORLD_SIZE=2
        choose 0 'mpi 0 5' mpi "FILCH_MPI_PLUGIN_DIR=$plugins" PMIX_RANK=5
        choose 0 'mpi 0' auto "FILCH_MPI_PLUGIN_DIR=$plugins" OMPI_COMM_WORLD_SIZE=many
    fi
    if [ -e "$plugins/filch-mpi-mpich.so" ]; then
        choose 0 'mpi 3 0' auto "FILCH_MPI_PLUGIN_DIR=$plugins" PMI_SIZE=3 PMI_RANK=0
        choose 0 'mpi 0' auto "FILCH_MPI_PLUGIN_DIR=$plugins" PMI_RANK=0
        # The subdirectory filch/ of the program's directory is searched without a variable.
        mkdir "$fake/filch"
        cp -- "$program" "$fake/program"
        cp -- "$plugins/filch-mpi-mpich.so" "$fake/filch"
        rm -- "$fake/filch-mpi-mpich.so"
        program=$fake/program
        choose 0 'mpi 2' auto PMI_SIZE=2
    fi
}

# Libraries can pretend to be somewhere else.
elsewhere() {
    local -x OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=lo MPIR_CVAR_ODD_EVEN_CLIQUES=1
    if [ "$mpi" = openmpi ]; then
        echo '== through sockets: messages arrive after their ring'
        ranks 2 all
    fi
    if unshare --uts true 2>/dev/null; then
        echo '== even and odd ranks as two nodes, through sockets'
        under=("$(dirname -- "$run")/two_nodes")
        ranks 4 nodes
    else
        echo '== skipped: two nodes (unshare --uts is not permitted)'
    fi
}

if [ "$mpi" = launch ]; then
    launch
else
    ranks 1 all
    ranks 2 all
    ranks 3 all
    ranks 4 all
    ranks 2 initialised
    ranks 2 funneled
    ranks 2 other
    ranks 2 alone
    ranks 2 measure
    elsewhere
fi
printf '%d passed, 0 failed\n' "$cases"
