/* The ranks of this node, and a doorbell for each.
 *
 * Each rank makes a memory file with its doorbell, and tells all ranks its node, its process and
 * the number of the file.  A rank opens the files of its node in /proc.  The files vanish with
 * their processes.  MPI has windows of shared memory for this.  To open one takes several blocking
 * collective calls, which use the CPUs that other ranks need to arrive: 0.1 s with twice as many
 * ranks as CPUs. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif
#include "transport/mpi_net.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a rank tells all others. */
typedef struct node_info {
    uint64_t node; /* ranks with the same number are on the same node */
    int32_t pid;
    int32_t fd; /* of its doorbell; -1: none */
} node_info;

/* ---- which node ---- */

/* FNV-1a. */
static uint64_t hash_add(uint64_t hash, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(1099511628211);
    return hash;
}

static uint64_t hash_add_file(uint64_t hash, const char *path)
{
    char text[256];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text);

    if (fd >= 0)
        close(fd);
    return hash_add(hash, text, n > 0 ? (size_t)n : 0);
}

/* The same boot of the same kernel, the same host name, and processes that see each other. */
static uint64_t node_number(void)
{
    char host[256] = "";
    struct stat pids;
    uint64_t hash = UINT64_C(14695981039346656037);

    gethostname(host, sizeof host - 1);
    hash = hash_add(hash, host, strlen(host));
    hash = hash_add_file(hash, "/proc/sys/kernel/random/boot_id");
    if (stat("/proc/self/ns/pid", &pids) == 0)
        hash = hash_add(hash, &pids.st_ino, sizeof pids.st_ino);
    return hash;
}

/* ---- doorbells ---- */

static fi_mpi_near *line_map(int fd)
{
    void *line = mmap(NULL, sizeof(fi_mpi_near), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    return line == MAP_FAILED ? NULL : line;
}

static void line_unmap(fi_mpi_near *line)
{
    if (line)
        munmap(line, sizeof *line);
}

/* Returns the descriptor; -1: other ranks cannot have this doorbell.  A new file has zeros: no
 * ring, and no message sent. */
static int own_create(void)
{
    static fi_mpi_near private_line;
    int fd = memfd_create("filch-doorbell", MFD_CLOEXEC);

    if (fd >= 0 && ftruncate(fd, sizeof(fi_mpi_near)) == 0)
        fi_mpi.own = line_map(fd);
    if (fi_mpi.own)
        return fd;
    fi_mpi.own = &private_line; /* for the lanes of this rank */
    if (fd >= 0)
        close(fd);
    return -1;
}

static fi_mpi_near *line_open(const node_info *c)
{
    char path[64];
    fi_mpi_near *line = NULL;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)c->pid, (int)c->fd);
    fd = c->fd < 0 ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    line = line_map(fd);
    close(fd);
    return line;
}

/* ---- the ranks of this node ---- */

static int no_memory(const char **why)
{
    *why = "there is no memory";
    return -ENOMEM;
}

static int near_alloc(unsigned n)
{
    fi_mpi.near = calloc(n, sizeof *fi_mpi.near);
    fi_mpi.pids = calloc(n, sizeof *fi_mpi.pids);
    fi_mpi.lines = calloc(n, sizeof(fi_mpi_near *));
    fi_mpi.place.near = fi_mpi.near;
    fi_mpi.place.pids = fi_mpi.pids;
    return fi_mpi.near && fi_mpi.pids && fi_mpi.lines ? 0 : -ENOMEM;
}

/* With this rank. */
static unsigned near_count(const node_info *infos, const node_info *own)
{
    unsigned n = 1;

    for (unsigned i = 0; i < fi_mpi.place.ranks; i++)
        n += i != fi_mpi.place.rank && infos[i].node == own->node;
    return n;
}

static bool near_add(unsigned rank, const node_info *c)
{
    unsigned i = fi_mpi.place.n_near++;

    fi_mpi.near[i] = rank;
    fi_mpi.pids[i] = c->pid;
    if (rank != fi_mpi.place.rank)
        fi_mpi.lines[i] = line_open(c);
    else if (c->fd >= 0)
        fi_mpi.lines[i] = fi_mpi.own;
    return fi_mpi.lines[i] != NULL;
}

/* Returns 1: all doorbells of the node are open; 0: not all; -ENOMEM. */
static int near_open(const node_info *infos, const node_info *own)
{
    int has_all = 1;

    if (near_alloc(near_count(infos, own)) < 0)
        return -ENOMEM;
    for (unsigned i = 0; i < fi_mpi.place.ranks; i++)
        if (infos[i].node == own->node)
            has_all &= near_add(i, &infos[i]);
    return has_all;
}

/* A count of sent messages needs both sides, so all ranks use doorbells or none does.  When this
 * returns, all ranks have opened the doorbells of their nodes, and the descriptor can be closed. */
static int agree(int has_all, const char **why)
{
    int all_have = 0;
    MPI_Request request;
    int e = MPI_Iallreduce(&has_all, &all_have, 1, MPI_INT, MPI_MIN, fi_mpi.comm, &request);

    e = fi_mpi_await(e, &request, why);
    fi_mpi.has_doorbells = all_have > 0;
    return e;
}

static int infos_open(node_info *infos, const char **why)
{
    node_info own = {.node = node_number(), .pid = (int32_t)getpid(), .fd = own_create()};
    MPI_Request request;
    int e = MPI_Iallgather(&own, sizeof own, MPI_BYTE, infos, sizeof own, MPI_BYTE, fi_mpi.comm,
                           &request);

    e = fi_mpi_await(e, &request, why);
    if (e == 0) {
        int has_all = near_open(infos, &own);

        e = agree(has_all, why);
        if (e == 0 && has_all < 0)
            e = no_memory(why);
    }
    if (own.fd >= 0)
        close(own.fd);
    return e;
}

int fi_mpi_node_open(const char **why)
{
    node_info *infos = calloc(fi_mpi.place.ranks, sizeof *infos);
    int e = infos ? infos_open(infos, why) : no_memory(why);

    free(infos);
    fi_mpi.place.is_polled = fi_mpi.place.n_near < fi_mpi.place.ranks || !fi_mpi.has_doorbells;
    return e;
}

void fi_mpi_node_close(void)
{
    for (unsigned i = 0; i < fi_mpi.place.n_near; i++)
        line_unmap(fi_mpi.lines[i]);
    free(fi_mpi.lines);
    free(fi_mpi.near);
    free(fi_mpi.pids);
}
