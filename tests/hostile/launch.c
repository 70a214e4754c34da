/* launch [OPTION...] PROGRAM [ARG...]: run a program with restrictions.
 *
 *   -r CALL=ERROR     refuse a system call (see refuse.c; may be given several times)
 *   -l NAME=VALUE     a resource limit: as, nproc, nofile, fsize, stack, sigpending, memlock, data;
 *                     suffixes k, m, g
 *   -c FD             close a descriptor
 *   -u UID            run as this user, who has no other processes
 *   -m PATH           mount an empty, read-only directory over PATH, in a new mount namespace
 *   -a                disable address randomisation
 *
 * Exit code 77, with a message, if the kernel does not permit it; else that of the program. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* unshare */
#endif
#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct {
    const char *name;
    int resource;
} limits[] = {
    {"as", RLIMIT_AS},           {"nproc", RLIMIT_NPROC}, {"nofile", RLIMIT_NOFILE},
    {"fsize", RLIMIT_FSIZE},     {"stack", RLIMIT_STACK}, {"sigpending", RLIMIT_SIGPENDING},
    {"memlock", RLIMIT_MEMLOCK}, {"data", RLIMIT_DATA},
};

static _Noreturn void give_up(int code, const char *what, const char *value)
{
    fprintf(stderr, "launch: %s: %s\n", what, value);
    exit(code);
}

static void cannot(int result, const char *what)
{
    if (result != 0)
        give_up(77, what, strerror(errno));
}

static rlim_t number(const char *text)
{
    char *end;
    rlim_t n = strtoull(text, &end, 0);

    switch (*end) {
    case 'g':
        return n << 30;
    case 'm':
        return n << 20;
    case 'k':
        return n << 10;
    default:
        return n;
    }
}

static void set_limit(char *text)
{
    char *value = strchr(text, '=');

    if (!value)
        give_up(2, "-l takes NAME=VALUE", text);
    *value++ = '\0';
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        if (strcmp(limits[i].name, text) == 0) {
            struct rlimit l = {number(value), number(value)};
            cannot(setrlimit((__rlimit_resource_t)limits[i].resource, &l), text);
            return;
        }
    give_up(2, "no such limit", text);
}

static void hide(const char *path)
{
    static int is_apart;

    if (!is_apart) {
        cannot(unshare(CLONE_NEWNS), "a mount namespace");
        cannot(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "private mounts");
        is_apart = 1;
    }
    cannot(mount("none", path, "tmpfs", MS_RDONLY, NULL), path);
}

static void become(const char *text)
{
    uid_t uid = (uid_t)number(text);

    if (getuid() != 0)
        give_up(77, "another user", "needs root");
    cannot(setgroups(0, NULL), "no groups");
    cannot(setgid(uid), "another group");
    cannot(setuid(uid), "another user");
}

static void refuse(const char *what)
{
    const char *before = getenv("HOSTILE_REFUSE");
    char text[4096], library[4096];
    ssize_t n = readlink("/proc/self/exe", library, sizeof library - 32);

    if (n < 0)
        give_up(77, "/proc/self/exe", strerror(errno));
    while (n > 0 && library[n - 1] != '/')
        n--;
    snprintf(library + n, sizeof library - (size_t)n, "libhostile_refuse.so");
    snprintf(text, sizeof text, "%s%s%s", before ? before : "", before ? "," : "", what);
    setenv("HOSTILE_REFUSE", text, 1);
    setenv("LD_PRELOAD", library, 1);
}

int main(int argc, char **argv)
{
    const struct rlimit no_core = {0, 0};

    setrlimit(RLIMIT_CORE, &no_core);
    for (int o; (o = getopt(argc, argv, "+r:l:c:u:m:a")) != -1;)
        switch (o) {
        case 'r':
            refuse(optarg);
            break;
        case 'l':
            set_limit(optarg);
            break;
        case 'c':
            close(atoi(optarg));
            break;
        case 'u':
            become(optarg);
            break;
        case 'm':
            hide(optarg);
            break;
        case 'a':
            cannot(personality(ADDR_NO_RANDOMIZE) < 0, "no address randomisation");
            break;
        default:
            return 2;
        }
    if (optind == argc)
        give_up(2, "usage",
                "launch [-r CALL=ERROR] [-l NAME=VALUE] [-c FD] [-u UID] [-m PATH] [-a] PROGRAM "
                "[ARG...]");
    execv(argv[optind], argv + optind);
    give_up(127, argv[optind], strerror(errno));
}
