/* freeze each SERVER: stop each thread of an idle server in turn (ptrace); the others must answer.
 * freeze random SEED PROGRAM [ARG...]: stop random threads for a moment, until the program ends.
 *
 * Exit code 77, with a message, if ptrace is not permitted. */
#include "victim.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>

enum { THREADS_MAX = 256, ANSWER_SECONDS = 30, REQUESTS = 3 };

static pid_t victim;
static FILE *said;

static void start(char **argv)
{
    int fd[2];

    NEED(pipe(fd) < 0 ? -errno : 0);
    victim = fork();
    NEED(victim < 0 ? -errno : 0);
    if (victim == 0) {
        dup2(fd[1], STDOUT_FILENO);
        close(fd[0]);
        close(fd[1]);
        execv(argv[0], argv);
        _exit(127);
    }
    close(fd[1]);
    said = fdopen(fd[0], "r");
    NEED_PTR(said);
}

static int threads(pid_t *tid)
{
    char path[64];
    int n = 0;

    snprintf(path, sizeof path, "/proc/%d/task", victim);
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && n < THREADS_MAX && (e = readdir(dir)) != NULL;)
        if (isdigit((unsigned char)e->d_name[0]))
            tid[n++] = atoi(e->d_name);
    if (dir)
        closedir(dir);
    return n;
}

/* Name and state of a thread: S while it sleeps. */
static char state_of(pid_t tid, char name[32])
{
    char path[64], state = '?';

    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", victim, tid);
    FILE *f = fopen(path, "r");
    if (f) {
        if (fscanf(f, "%*d (%31[^)]) %c", name, &state) != 2)
            state = '?';
        fclose(f);
    }
    return state;
}

static void wait_until_idle(void)
{
    pid_t tid[THREADS_MAX];
    char name[32];

    for (int quiet = 0; quiet < 20;) {
        bool all = true;
        int n = threads(tid);
        for (int i = 0; i < n; i++)
            all = all && state_of(tid[i], name) == 'S';
        quiet = all ? quiet + 1 : 0;
        usleep(1000);
    }
}

/* Returns false if the thread has ended. */
static bool freeze(pid_t tid)
{
    int status;

    if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0) {
        if (errno == EPERM) {
            fprintf(stderr, "ptrace: %s\n", strerror(errno));
            kill(victim, 9);
            exit(77);
        }
        return false;
    }
    ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
    if (waitpid(tid, &status, __WALL) < 0)
        return false;
    return WIFSTOPPED(status);
}

static void thaw(pid_t tid)
{
    ptrace(PTRACE_DETACH, tid, NULL, NULL);
}

static bool request(int port, const char *text)
{
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct timeval limit = {.tv_sec = ANSWER_SECONDS};
    char back[4] = "";
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    bool ok = connect(fd, (const struct sockaddr *)&to, sizeof to) == 0 &&
              send(fd, text, 4, MSG_NOSIGNAL) == 4 && recv(fd, back, 4, MSG_WAITALL) == 4 &&
              memcmp(text, back, 4) == 0;
    close(fd);
    return ok;
}

static int freeze_each(char **argv)
{
    pid_t tid[THREADS_MAX];
    char name[32] = "", line[32] = "";
    int failed = 0, status = 0;

    start(argv);
    MUST(fgets(line, sizeof line, said) != NULL);
    int port = atoi(line);
    for (int i = 0; i < 20; i++)
        MUST(request(port, "ping")); /* so that all its threads are started */
    int n = threads(tid);
    for (int i = 0; i < n; i++) {
        wait_until_idle();
        state_of(tid[i], name);
        if (!freeze(tid[i]))
            continue;
        for (int k = 0; k < REQUESTS; k++)
            if (!request(port, "ping")) {
                fprintf(stderr,
                        "victim: no answer within %d s while thread %s was stopped: wrong answer\n",
                        ANSWER_SECONDS, name);
                failed = 1;
                break;
            }
        thaw(tid[i]);
    }
    MUST(request(port, "quit"));
    MUST(fgets(line, sizeof line, said) && strcmp(line, "right\n") == 0);
    MUST(waitpid(victim, &status, 0) == victim && status == 0);
    if (!failed)
        puts("right");
    return failed;
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static int freeze_random(const char *seed, char **argv)
{
    uint64_t state = strtoull(seed, NULL, 0) * 2 + 1;
    pid_t tid[THREADS_MAX];
    char line[32] = "";
    int status = 0;

    start(argv);
    while (waitpid(victim, &status, WNOHANG) == 0) {
        int n = threads(tid);
        if (n == 0)
            continue;
        pid_t one = tid[next_random(&state) % (uint64_t)n];
        if (freeze(one)) {
            usleep((useconds_t)(next_random(&state) % 3000));
            thaw(one);
        } else if (one == victim) {
            break;
        }
        usleep((useconds_t)(next_random(&state) % 300));
    }
    MUST(fgets(line, sizeof line, said) && strcmp(line, "right\n") == 0);
    puts("right");
    return 0;
}

int main(int argc, char **argv)
{
    if (argc >= 3 && strcmp(argv[1], "each") == 0)
        return freeze_each(argv + 2);
    if (argc >= 4 && strcmp(argv[1], "random") == 0)
        return freeze_random(argv[2], argv + 3);
    fprintf(stderr, "usage: freeze each SERVER | random SEED PROGRAM [ARG...]\n");
    return 2;
}
