/* Small text files of the kernel: reading them whole, and the few forms they are written in. */
#define _GNU_SOURCE
#include "base/mem.h"
#include "base/topology_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FIRST_SIZE 4096
/* Nothing the kernel says about CPUs is longer; a file that is, is not what we took it for. */
#define LARGEST ((size_t)16 * 1024 * 1024)

/* [owner] Twice the room, with what is there. */
static int grow(fi_text *t)
{
    size_t size = t->size == 0 ? FIRST_SIZE : 2 * t->size;

    if (size > LARGEST)
        return -EFBIG;
    char *s = fi_mem_alloc(size, 1);
    if (s == NULL)
        return -ENOMEM;
    if (t->s != NULL)
        memcpy(s, t->s, t->size);
    fi_text_fini(t);
    *t = (fi_text){.s = s, .size = size};
    return 0;
}

/* [owner] The rest of the file, and a NUL. */
static int read_all(fi_text *t, int fd)
{
    size_t used = 0;

    for (;;) {
        int e = used + 1 < t->size ? 0 : grow(t);
        if (e < 0)
            return e;
        ssize_t n = read(fd, t->s + used, t->size - used - 1);
        if (n < 0 && errno != EINTR)
            return -errno;
        if (n == 0)
            break;
        used += n > 0 ? (size_t)n : 0;
    }
    t->s[used] = '\0';
    return 0;
}

int fi_text_read(fi_text *t, const char *path, ...)
{
    char name[PATH_MAX]; /* what is longer could not be opened */
    va_list args;

    va_start(args, path);
    /* clang-tidy 14 overlooks va_start here. */
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    int length = vsnprintf(name, sizeof name, path, args);
    va_end(args);
    if (length < 0 || (size_t)length >= sizeof name)
        return -ENAMETOOLONG;
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int e = read_all(t, fd);
    close(fd);
    return e;
}

void fi_text_fini(fi_text *t)
{
    fi_mem_free(t->s, t->size, 1);
    *t = (fi_text){0};
}

bool fi_text_number(const char **s, uint64_t *value)
{
    const char *p = *s;
    uint64_t sum = 0;

    for (; *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, (uint64_t)(*p - '0'), &sum))
            return false;
    if (p == *s)
        return false;
    *s = p;
    *value = sum;
    return true;
}

char *fi_text_cut(char **s, const char *ends)
{
    char *piece = *s;

    if (*piece == '\0')
        return NULL;
    *s += strcspn(*s, ends);
    if (**s != '\0')
        *(*s)++ = '\0';
    return piece;
}

bool fi_text_lists(const char *words, const char *word)
{
    size_t length = strlen(word);

    for (;;) {
        size_t n = strcspn(words, ",");
        if (n == length && memcmp(words, word, n) == 0)
            return true;
        if (words[n] == '\0')
            return false;
        words += n + 1;
    }
}

static bool small_number(const char **s, int *value)
{
    uint64_t n;

    if (!fi_text_number(s, &n) || n > INT_MAX)
        return false;
    *value = (int)n;
    return true;
}

bool fi_text_range(const char **s, int *first, int *last)
{
    if (**s == ',')
        ++*s;
    if (!small_number(s, first))
        return false;
    *last = *first;
    if (**s != '-')
        return true;
    ++*s;
    return small_number(s, last) && *last >= *first;
}
