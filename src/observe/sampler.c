/* FILCH_SAMPLE: a thread that looks at all deques again and again and keeps what it saw, until the runtime ends.
 *
 * As in Kuchumov's paper (2016), stamps are the processor's own counter, and the thread takes a CPU for itself unless
 * FILCH_SAMPLE_NS lets it rest.  Nothing is allocated, written or printed while it samples.
 *
 * It only reads.  The numbers of one sample are read one after the other, and workers go on meanwhile: first how often a
 * bottom was lowered, then the top, then how often it was raised, so that what has left is never seen before it came, and a
 * size is rather too large than negative; by how much is bounded by how long a look may take.  (It is -1 where a take has
 * lowered the bottom of an empty deque and has not yet put it back; processors that reorder loads may show other sizes
 * below 0 for a moment.)
 */
#define _GNU_SOURCE /* pthread_setname_np, cpu_set_t */
#include "base/clock.h"
#include "base/mem.h"
#include "base/option.h"
#include "observe/observe.h"
#include "observe/output.h"
#include "observe/samples.h"
#include "sched/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROOM_BYTES    ((size_t)64 << 20)
#define TRIES         16
#define LOOK_NS       500    /* for each deque, and once more: several times what it takes */
#define SLEEP_NS_MIN  100000 /* a shorter rest is not worth a system call */
#define NS_PER_SECOND 1000000000

/* Of the one runtime that there is. */
typedef struct sampler {
    fi_samples samples;
    fi_runtime *runtime;
    uint32_t *first_tops; /* one for each deque */
    uint64_t rest_ticks;
    uint64_t patience; /* ticks that a look may take */
    pthread_t thread;
    sem_t begun; /* the first sample is taken */
    FI_ATOMIC(uint32_t) over;
    fi_output output;
    pid_t pid; /* of the process that the thread is in; 0: there is none */
} sampler;

static sampler the;

static void look_at(const fi_worker *w, uint32_t first_top, uint32_t *out)
{
    fi_deque_counts *d = fi_deque_counts_of(w->deque);
    const fi_counters *c = &w->counters;
    uint32_t puts;

    out[FILCH_SAMPLES_BOTTOM_DECS] = (uint32_t)fi_counted(&d->bottom_decs);
    out[FILCH_SAMPLES_TOP] = fi_deque_top(w->deque) - first_top;
    out[FILCH_SAMPLES_BOTTOM_INCS] = (uint32_t)fi_counted(&d->bottom_restores);
    puts = (uint32_t)fi_counted(&d->pushes);
    out[FILCH_SAMPLES_PUSHES] = puts;
    out[FILCH_SAMPLES_BOTTOM_INCS] += puts;
    out[FILCH_SAMPLES_POPS] = (uint32_t)fi_counted(&d->pops);
    out[FILCH_SAMPLES_POPS_FAILED] = (uint32_t)fi_counted(&d->pops_failed);
    out[FILCH_SAMPLES_STEALS_SINGLE] = (uint32_t)fi_counted(&c->deque_steals_single);
    out[FILCH_SAMPLES_STEALS_SINGLE_FAILED] = (uint32_t)fi_counted(&c->deque_steals_single_failed);
    out[FILCH_SAMPLES_STEALS_MULTIPLE] = (uint32_t)fi_counted(&c->deque_steals_multiple);
    out[FILCH_SAMPLES_STEALS_MULTIPLE_FAILED] =
        (uint32_t)fi_counted(&c->deque_steals_multiple_failed);
    out[FILCH_SAMPLES_STOLEN] = (uint32_t)fi_counted(&c->deque_stolen);
    out[FILCH_SAMPLES_RESIZES] = (uint32_t)fi_counted(&d->resizes);
}

/* How many ticks it took. */
static uint64_t look_once(sampler *s, fi_sample *out)
{
    out->stamp = fi_clock_ticks();
    for (unsigned i = 0; i < s->samples.deques; i++)
        look_at(&s->runtime->workers[i], s->first_tops[i],
                out->values + (size_t)i * FILCH_SAMPLES_COLUMNS);
    return fi_clock_ticks() - out->stamp;
}

/* Who was interrupted in the middle has numbers of two moments, and takes them again; but where everything is so slow, they
 * have to do. */
static void look(sampler *s)
{
    fi_sample *next = fi_samples_next(&s->samples);

    for (int i = 0; i < TRIES && look_once(s, next) > s->patience; i++)
        s->samples.torn++;
    fi_samples_took(&s->samples);
}

static void rest(const sampler *s, uint64_t until)
{
    int64_t ns = s->runtime->settings.observe.sample_ns;

    if (ns >= SLEEP_NS_MIN)
        nanosleep(&(struct timespec){.tv_sec = ns / NS_PER_SECOND, .tv_nsec = ns % NS_PER_SECOND},
                  NULL);
    while (fi_clock_ticks() < until && !fi_load_relaxed(&s->over))
        fi_pause();
}

static void *sample(void *arg)
{
    sampler *s = arg;
    char name[16];

    snprintf(name, sizeof name, "%.8s-sample", s->runtime->settings.name);
    pthread_setname_np(pthread_self(), name);
    look(s);
    sem_post(&s->begun);
    while (!fi_load_relaxed(&s->over)) {
        if (s->rest_ticks)
            rest(s, fi_clock_ticks() + s->rest_ticks);
        look(s);
    }
    look(s); /* the workers have ended: what they leave */
    return NULL;
}

/* ---- begin ---- */

static bool may_use(int cpu)
{
    cpu_set_t allowed;

    return cpu < CPU_SETSIZE && sched_getaffinity(0, sizeof allowed, &allowed) == 0 &&
           CPU_ISSET((size_t)cpu, &allowed);
}

static int attributes(pthread_attr_t *attr, int cpu)
{
    cpu_set_t one;

    pthread_attr_init(attr);
    if (cpu < 0)
        return 0;
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    return -pthread_attr_setaffinity_np(attr, sizeof one, &one);
}

/* Signals are for the program's own threads. */
static int start_thread(sampler *s)
{
    pthread_attr_t attr;
    sigset_t all, mask;
    int e = attributes(&attr, s->runtime->settings.observe.sample_cpu);

    if (e == 0) {
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &mask);
        e = -pthread_create(&s->thread, &attr, sample, s);
        pthread_sigmask(SIG_SETMASK, &mask, NULL);
    }
    pthread_attr_destroy(&attr);
    return e;
}

static int make_room(sampler *s)
{
    unsigned n = s->runtime->n_workers;
    int e = fi_samples_init(&s->samples, n, ROOM_BYTES);

    if (e < 0)
        return e;
    s->first_tops = FI_NEW_ARRAY(uint32_t, n);
    if (!s->first_tops) {
        fi_samples_fini(&s->samples);
        return -ENOMEM;
    }
    for (unsigned i = 0; i < n; i++)
        s->first_tops[i] = fi_deque_top(s->runtime->workers[i].deque);
    return 0;
}

static void drop_room(sampler *s)
{
    FI_DELETE_ARRAY(uint32_t, s->first_tops, s->samples.deques);
    fi_samples_fini(&s->samples);
}

static int start_in_room(sampler *s)
{
    int e;

    if (sem_init(&s->begun, 0, 0) < 0)
        return -errno;
    fi_store_relaxed(&s->over, 0u);
    s->patience = fi_clock_ns_to_ticks(LOOK_NS * ((int64_t)s->samples.deques + 1));
    s->rest_ticks = fi_clock_ns_to_ticks(s->runtime->settings.observe.sample_ns);
    e = start_thread(s);
    if (e == 0)
        while (sem_wait(&s->begun) < 0 && errno == EINTR)
            ;
    else
        sem_destroy(&s->begun);
    return e;
}

static int start(sampler *s)
{
    int e = make_room(s);

    if (e < 0)
        return e;
    e = start_in_room(s);
    if (e < 0)
        drop_room(s);
    return e;
}

/* In the child of a fork(): the thread is not here, and the samples are its parent's. */
static void forget(sampler *s)
{
    drop_room(s);
    s->pid = 0;
}

/* A program must not fail because it cannot be observed. */
static void try_to_start(sampler *s, fi_runtime *rt)
{
    int e = fi_output_init(&s->output, "FILCH_SAMPLE", rt->settings.observe.sample);

    if (e == 0)
        e = fi_output_check(&s->output);
    if (e < 0)
        return;
    s->runtime = rt;
    e = start(s);
    if (e < 0) {
        fi_option_error("FILCH_SAMPLE: cannot start the sampler: %s", strerror(-e));
        return;
    }
    s->pid = getpid();
    rt->n_observer_threads++;
}

static int begin(fi_runtime *rt)
{
    const fi_observe_settings *s = &rt->settings.observe;

    if (the.pid != 0)
        forget(&the);
    if (!s->sample)
        return 0;
    if (s->sample_cpu >= 0 && !may_use(s->sample_cpu))
        return fi_option_error("FILCH_SAMPLE_CPU is %d, which is no CPU for this process",
                               s->sample_cpu);
    try_to_start(&the, rt);
    return 0;
}

/* ---- end ---- */

/* Its arguments are separated by zeros there. */
static void name_program(char *out, size_t size)
{
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, out, size - 1);

    if (fd >= 0)
        close(fd);
    while (n > 0 && out[n - 1] == '\0')
        n--;
    for (ssize_t i = 0; i < n; i++)
        if ((unsigned char)out[i] < ' ')
            out[i] = ' ';
    memset(out + (n > 0 ? n : 0), 0, size - (size_t)(n > 0 ? n : 0));
}

static const char *clock_name(void)
{
    switch (fi_clock_source()) {
    case FI_CLOCK_TSC:
        return "tsc";
    case FI_CLOCK_CNTVCT:
        return "cntvct";
    default:
        return "monotonic";
    }
}

static int write_samples(const sampler *s, int fd)
{
    const fi_settings *set = &s->runtime->settings;
    filch_samples_head head = {
        .eager = set->eager,
        .steal_batch = set->steal_batch,
        .ticks_per_second = fi_clock_ns_to_ticks(NS_PER_SECOND),
    };

    snprintf(head.kind, sizeof head.kind, "%s", set->deque->name);
    snprintf(head.clock, sizeof head.clock, "%s", clock_name());
    name_program(head.program, sizeof head.program);
    return fi_samples_write(&s->samples, &head, fd);
}

static void write_file(sampler *s)
{
    int fd = fi_output_open(&s->output);

    if (fd >= 0)
        fi_output_close(&s->output, write_samples(s, fd));
}

static void stop(sampler *s, bool has_run)
{
    fi_store_relaxed(&s->over, 1u);
    pthread_join(s->thread, NULL);
    sem_destroy(&s->begun);
    if (has_run)
        write_file(s);
    drop_room(s);
    s->pid = 0;
}

static void end(fi_runtime *rt, bool has_run)
{
    (void)rt;
    if (the.pid == getpid())
        stop(&the, has_run);
}

static void at_alarm(fi_runtime *rt, fi_incident why)
{
    if (why == FI_INCIDENT_EXIT)
        end(rt, true);
}

const fi_hooks fi_observe_samples = {.begin = begin, .end = end, .incident = at_alarm};
