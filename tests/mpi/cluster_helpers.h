/* Helpers of the programs that test the cluster with real ranks. */
#ifndef TESTS_CLUSTER_HELPERS_H
#define TESTS_CLUSTER_HELPERS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* for all programs that include this first */
#endif
#include <errno.h>
#include <fcntl.h>
#include <filch/cluster.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* exit() ends all ranks with status 1, because the cluster has been started. */
#define CHECK(condition) ((condition) ? (void)0 : check_fail(__FILE__, __LINE__, #condition))
#define CHECK_INT(a, b)  check_int(__FILE__, __LINE__, #a, (long long)(a), (long long)(b))

static inline _Noreturn void check_fail(const char *file, int line, const char *text)
{
    fprintf(stderr, "%s:%d: rank %u of %u: not true: %s\n", file, line, filch_cluster_rank(),
            filch_cluster_ranks(), text);
    exit(1);
}

static inline void check_int(const char *file, int line, const char *text, long long a, long long b)
{
    if (a == b)
        return;
    fprintf(stderr, "%s:%d: rank %u of %u: %s is %lld, not %lld\n", file, line,
            filch_cluster_rank(), filch_cluster_ranks(), text, a, b);
    exit(1);
}

/* splitmix64 */
static inline uint64_t mix(uint64_t z)
{
    z += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Words in a file that all ranks of this machine share.  The file is empty or has zeros at
 * first. */
static inline void *share_words(const char *path, size_t size)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    void *words;

    if (fd < 0 || ftruncate(fd, (off_t)size) < 0) {
        perror(path);
        exit(2);
    }
    words = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (words == MAP_FAILED) {
        perror(path);
        exit(2);
    }
    return words;
}

#endif
