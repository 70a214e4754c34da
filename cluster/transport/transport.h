/* The interface between a rank and the network.
 *
 *     one   a single rank, without a network (one.c)
 *     mpi   a plugin for each MPI library (mpi.c), loaded by launch.c
 *
 * The simulator (cluster/sim) has its own event loop and does not use this table.
 *
 * One thread, the communication thread, makes all calls except ring and stop. */
#ifndef FI_CLUSTER_TRANSPORT_H
#define FI_CLUSTER_TRANSPORT_H

#include "protocol/message.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Changes with each change of this header.  The loader refuses a plugin with another number. */
#define FI_TRANSPORT_VERSION 3u

/* Where this rank is.  The transport owns the arrays until close. */
typedef struct fi_place {
    unsigned rank, ranks;
    unsigned n_near;      /* ranks on this node, including this one */
    const unsigned *near; /* their numbers, ascending */
    const pid_t *pids;    /* their process numbers, in the same order */
    bool is_polled;       /* messages of some ranks do not end a wait */
} fi_place;

typedef struct fi_transport_config {
    const void *mpi_comm; /* address of an MPI_Comm, or NULL for the world */
    /* What the variables of the launcher say. */
    unsigned launched_ranks; /* 0: unknown */
    int launched_rank;       /* the number of this rank; -1: unknown */
    /* Print a line that names an error; NULL: to stderr.  A plugin has no other access to the
     * library's message handler. */
    void (*report)(const char *text);
} fi_transport_config;

typedef struct fi_transport {
    unsigned version; /* FI_TRANSPORT_VERSION */
    const char *name;
    /* Collective.  Fill in *place, and *why with a text if the result is an error.  The text is
     * valid until the next call.
     * Returns 0 or -errno. */
    int (*open)(const fi_transport_config *config, fi_place *place, const char **why);
    /* Start to send p, and take it.  Never blocks.
     * Returns 0.  After an error p stays with the caller.
     *     -EAGAIN: too many sends are open; call poll, then send again.  A wait in between does not
     *         sleep longer than the sends take.
     *     -EMSGSIZE: p is too large.
     *     -EIO: the network has failed; a line was reported. */
    int (*send)(unsigned to, fi_packet *p);
    /* Get a message that has arrived completely, and continue open sends.  Never blocks.  NULL:
     * there is none.  The caller frees the packet.
     * *error: 0.
     *     -ENOMEM: there is no memory for a message; it stays in the network.
     *     -EPROTO: a message is not one of Filch's.
     *     -EIO: the network has failed; a line was reported. */
    fi_packet *(*poll)(int *error);
    /* Sleep until a ring since the last wait, or the arrival of a message, or for ns.  With
     * fi_place.is_polled, some messages are noticed by polling only, so the caller limits ns.  May
     * return early, and returns soon while a large message is being transferred.
     * Returns true: the thread has slept. */
    bool (*wait)(int64_t ns);
    /* End a wait of this rank.  From any thread, at any time between open and close. */
    void (*ring)(void);
    /* End all ranks with this exit status, which is not 0.  From any thread, at any time.  Before
     * the end of open a signal may end them instead.  Does not return. */
    __attribute__((noreturn)) void (*stop)(int status);
    /* Collective.  Wait until all sends have completed and all ranks call it, without using a CPU.
     * Messages that arrive meanwhile are dropped.  If the launcher dies meanwhile, the process ends
     * with status 1. */
    void (*close)(void);
} fi_transport;

extern const fi_transport fi_transport_one;

/* The symbol that a plugin exports. */
#define FI_TRANSPORT_SYMBOL "fi_transport_mpi"

/* Find out what started this process.  Choose and load the transport, and fill in *config except
 * mpi_comm.
 * name: "auto", "one" or "mpi".
 * Returns 0.  After an error a line was reported.
 *     -ENOENT: there is no plugin for the launcher.
 *     -EINVAL: unknown name, or mpi without a launcher. */
int fi_transport_choose(const char *name, const fi_transport **transport,
                        fi_transport_config *config);

#endif
