# shellcheck shell=bash
# Sourced by the scripts that start ranks.

# mpi_check MPI: fail if the name is unknown.  Exit with 77 if the launcher is not installed, or the
# directory FILCH_MPI_PLUGIN_DIR has no plugin for it.
mpi_check() {
    case $1 in
    openmpi | mpich) ;;
    *)
        printf '%s: unknown MPI (%s); use openmpi or mpich\n' "${0##*/}" "$1" >&2
        exit 2
        ;;
    esac
    if ! command -v "mpirun.$1" >/dev/null; then
        printf 'skipped: mpirun.%s is not installed\n' "$1"
        exit 77
    fi
    if [ -n "${FILCH_MPI_PLUGIN_DIR:-}" ] && ! [ -e "$FILCH_MPI_PLUGIN_DIR/filch-mpi-$1.so" ]; then
        printf 'skipped: this build has no plugin for %s (%s)\n' "$1" "$FILCH_MPI_PLUGIN_DIR"
        exit 77
    fi
}

# mpi_files DIRECTORY: where Open MPI keeps its files.  It leaves them behind if its launcher is killed.
mpi_files() {
    export OMPI_MCA_orte_tmpdir_base=$1 OMPI_MCA_btl_vader_backing_directory=$1
}

# mpi_environment: allow to run as root, and with more ranks than CPUs.
mpi_environment() {
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export OMPI_MCA_rmaps_base_oversubscribe=1
    export OMPI_MCA_hwloc_base_binding_policy=none
    # Containers forbid one process to copy from the memory of another.
    export OMPI_MCA_btl_vader_single_copy_mechanism=none
}
