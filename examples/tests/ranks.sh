# shellcheck shell=bash
# Shared by the tests NAME_test.sh PROGRAM MPI PLUGIN_DIR of examples for MPI.  MPI is `one` (one
# process without MPI), `openmpi` or `mpich`.  Exits with 77 if this MPI cannot be used.
# shellcheck source=examples/tests/lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
program=$1
mpi=$2
export FILCH_MPI_PLUGIN_DIR=$3
run=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../../tests/mpi/run

if [ "$mpi" = one ]; then
    counts=(1)
elif ! [ -e "$FILCH_MPI_PLUGIN_DIR/filch-mpi-$mpi.so" ]; then
    printf 'skipped: filch-mpi-%s.so was not built\n' "$mpi"
    exit 77
elif ! command -v "mpirun.$mpi" >/dev/null; then
    printf 'skipped: mpirun.%s is not installed\n' "$mpi"
    exit 77
else
    # shellcheck disable=SC2034  # the tests use it
    counts=(1 2 4) # numbers of ranks
fi

# ranks N ARGS...: run the program.
ranks() {
    if [ "$mpi" = one ]; then
        "$program" "${@:2}"
    else
        "$run" "$mpi" "$1" "$program" "${@:2}"
    fi
}
