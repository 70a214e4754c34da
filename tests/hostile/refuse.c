/* A library for LD_PRELOAD that makes system calls fail from the start of main(), with a seccomp
 * filter.  A container's profile applies from the start of the process; here calls that the loader
 * needs can fail as well.
 *
 *     HOSTILE_REFUSE=epoll_pwait2=EPERM             one call
 *     HOSTILE_REFUSE=madvise:2=102=EINVAL           if its argument 2 (the first is 0) is 102
 *     HOSTILE_REFUSE=membarrier=ENOSYS,prctl=EPERM  several
 *     HOSTILE_REFUSE=others=ENOSYS                  all that are not in syscalls.h
 *
 * Exit code 77, with a message, if the kernel does not support seccomp. */
#include "syscalls.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#if defined __x86_64__
#define ARCH AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCH AUDIT_ARCH_AARCH64
#endif

enum { RULES_MAX = 512 };

static struct sock_filter rules[RULES_MAX];
static unsigned short n_rules;

static const struct {
    const char *name;
    int number;
} errors[] = {
    {"EPERM", EPERM},   {"ENOSYS", ENOSYS}, {"EINVAL", EINVAL}, {"EOPNOTSUPP", EOPNOTSUPP},
    {"ENOMEM", ENOMEM}, {"EAGAIN", EAGAIN}, {"EACCES", EACCES}, {"EMFILE", EMFILE},
    {"ENFILE", ENFILE}, {"EINTR", EINTR},   {"ENOSPC", ENOSPC}, {"ENOBUFS", ENOBUFS},
    {"EIO", EIO},       {"EBUSY", EBUSY},
};

static _Noreturn void give_up(int code, const char *what, const char *value)
{
    fprintf(stderr, "refuse: %s: %s\n", what, value);
    _exit(code);
}

static void rule(uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
    if (n_rules == RULES_MAX)
        give_up(2, "HOSTILE_REFUSE", "too long");
    rules[n_rules++] = (struct sock_filter)BPF_JUMP(code, k, jt, jf);
}

static void load(size_t offset)
{
    rule(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void answer(uint32_t what)
{
    rule(BPF_RET | BPF_K, what, 0, 0);
}

static uint32_t refusal(const char *name)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (strcmp(errors[i].name, name) == 0)
            return SECCOMP_RET_ERRNO | (uint32_t)errors[i].number;
    give_up(2, "HOSTILE_REFUSE: no such error", name);
}

static void refuse_others(const char *error)
{
    for (size_t i = 0; i < HOSTILE_SYSCALLS; i++) {
        rule(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)hostile_syscalls[i].number, 0, 1);
        answer(SECCOMP_RET_ALLOW);
    }
    answer(refusal(error));
}

/* CALL=ERROR or CALL:ARGUMENT=VALUE=ERROR.  The low half of the argument is compared. */
static void refuse(const char *text)
{
    size_t n = strcspn(text, ":=");
    const char *error = strrchr(text, '=');
    long number = hostile_syscall_number(text, n);

    if (!error || number < 0)
        give_up(2, "HOSTILE_REFUSE: not a call of syscalls.h with an error", text);
    load(offsetof(struct seccomp_data, nr));
    if (text[n] == ':') {
        char *end;
        unsigned long argument = strtoul(text + n + 1, &end, 0);
        uint32_t value = (uint32_t)strtoul(end + 1, NULL, 0);
        rule(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 3);
        load(offsetof(struct seccomp_data, args) + 8 * argument);
        rule(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    } else {
        rule(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1);
    }
    answer(refusal(error + 1));
}

static void install(void)
{
    struct sock_fprog program = {n_rules, rules};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        give_up(77, "no new privileges", strerror(errno));
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        give_up(77, "seccomp", strerror(errno));
}

static const char *refuse_setting(char *const *environment)
{
    static const char name[] = "HOSTILE_REFUSE=";

    for (; *environment; environment++)
        if (strncmp(*environment, name, sizeof name - 1) == 0)
            return *environment + sizeof name - 1;
    return "";
}

/* Linked with -z initfirst, so that it runs before the constructors of Filch, which make system
 * calls. glibc passes the arguments of main to constructors.  getenv does not work yet, because the
 * constructor of glibc runs later. */
__attribute__((constructor)) static void begin(int argc, char **argv, char **environment)
{
    const char *text = refuse_setting(environment);

    (void)argc, (void)argv;
    if (!*text)
        return;
    load(offsetof(struct seccomp_data, arch));
    rule(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0);
    answer(SECCOMP_RET_ALLOW);
    if (strncmp(text, "others=", 7) == 0) {
        load(offsetof(struct seccomp_data, nr));
        refuse_others(text + 7);
    } else {
        char *copy = strdup(text), *rest = copy;
        for (char *one; (one = strsep(&rest, ",")) != NULL;)
            refuse(one);
        free(copy);
        answer(SECCOMP_RET_ALLOW);
    }
    install();
}
