/* Descriptors that the service manager opened (systemd socket activation).  It sets LISTEN_PID to
 * the process that they are for, LISTEN_FDS to their number, and LISTEN_FDNAMES to their names. */
#include "base/option.h"

#include <filch/io.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define FIRST_FD 3

/* 0 if the variable is not set, or is not a number. */
static uint64_t env_number(const char *variable)
{
    const char *text = fi_option_env(variable);
    uint64_t n;

    return text && fi_option_parse(text, false, &n) ? n : 0;
}

/* 0: there are none, or they are for another process. */
static uint64_t n_inherited(void)
{
    uint64_t n = env_number("LISTEN_FDS");

    return env_number("LISTEN_PID") == (uint64_t)getpid() && n <= INT_MAX - FIRST_FD ? n : 0;
}

/* The names are separated by colons. */
static bool next_name_is(const char **names, const char *name)
{
    size_t n = strcspn(*names, ":");
    bool is_same = n == strlen(name) && memcmp(*names, name, n) == 0;

    *names += n + ((*names)[n] == ':');
    return is_same;
}

/* The descriptor keeps its file status flags.  The close-on-exec flag belongs to the number. */
static int set_close_on_exec(int fd)
{
    int flags = fcntl(fd, F_GETFD);

    return flags < 0 || fcntl(fd, F_SETFD, flags | FD_CLOEXEC) < 0 ? -errno : fd;
}

int filch_listen_inherited(const char *name, unsigned index)
{
    const char *names = fi_option_env("LISTEN_FDNAMES");
    uint64_t n = n_inherited();

    if (name && !names)
        return -ENOENT;
    for (uint64_t i = 0; i < n; i++)
        if ((!name || next_name_is(&names, name)) && index-- == 0)
            return set_close_on_exec(FIRST_FD + (int)i);
    return -ENOENT;
}
