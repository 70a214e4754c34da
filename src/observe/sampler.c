/* FILCH_SAMPLE: a thread that reads the counters of all deques in a loop and keeps the values in
 * memory until the runtime stops.
 *
 * As in Kuchumov's paper (2016), time stamps are the CPU's cycle counter, and the thread occupies
 * one CPU unless FILCH_SAMPLE_NS makes it pause.  It does not allocate, write or print while it
 * samples.
 *
 * The thread only reads, and the workers continue meanwhile.  So the order of the reads matters:
 * first the decrements of a bottom, then the top, then the increments of the bottom.  An item is
 * then never seen leaving before it was added, and a size is rather too large than negative.  The
 * error is bounded by the maximum duration of a sample.  The size is -1 while a pop has decremented
 * the bottom of an empty deque and has not restored it.  CPUs that reorder loads may briefly show
 * other negative sizes. */
#define _GNU_SOURCE /* pthread_setname_np, cpu_set_t */
#include "base/clock.h"
#include "base/mem.h"
#include "base/message.h"
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

#define BUFFER_BYTES  ((size_t)64 << 20)
#define TRIES         16
#define SAMPLE_NS_MAX 500    /* max, for each deque and once more; several times the usual */
#define SLEEP_NS_MIN  100000 /* a shorter pause is not worth a system call */
#define NS_PER_SECOND 1000000000

/* State of the one runtime. */
typedef struct sampler {
    fi_samples samples;
    fi_runtime *runtime;
    uint32_t *first_tops; /* one for each deque */
    uint64_t pause_ticks;
    uint64_t max_ticks; /* a sample that takes longer is taken again */
    pthread_t thread;
    sem_t started; /* posted after the first sample */
    FI_ATOMIC(uint32_t) stopping;
    fi_output output;
    pid_t pid; /* of the process that has the thread; 0: no thread */
} sampler;

static sampler the_sampler;

static void sample_worker(const fi_worker *w, uint32_t first_top, uint32_t *out)
{
    fi_deque_counts *d = fi_deque_counts_of(w->deque);
    const fi_counters *c = &w->counters;
    uint32_t pushes;

    out[FILCH_SAMPLES_BOTTOM_DECS] = (uint32_t)fi_counted(&d->bottom_decs);
    out[FILCH_SAMPLES_TOP] = fi_deque_top(w->deque) - first_top;
    out[FILCH_SAMPLES_BOTTOM_INCS] = (uint32_t)fi_counted(&d->bottom_restores);
    pushes = (uint32_t)fi_counted(&d->pushes);
    out[FILCH_SAMPLES_PUSHES] = pushes;
    out[FILCH_SAMPLES_BOTTOM_INCS] += pushes;
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

/* Returns: the duration in ticks. */
static uint64_t sample_once(sampler *s, fi_sample *out)
{
    out->stamp = fi_clock_ticks();
    for (unsigned i = 0; i < s->samples.deques; i++)
        sample_worker(&s->runtime->workers[i], s->first_tops[i],
                      out->values + (size_t)i * FILCH_SAMPLES_COLUMNS);
    return fi_clock_ticks() - out->stamp;
}

/* If the thread was interrupted, the values are of two different times, and the sample is taken
 * again.  On a slow machine the last try is kept. */
static void take_sample(sampler *s)
{
    fi_sample *next = fi_samples_next(&s->samples);

    for (int i = 0; i < TRIES && sample_once(s, next) > s->max_ticks; i++)
        s->samples.retried++;
    fi_samples_commit(&s->samples);
}

static void pause_until(const sampler *s, uint64_t until)
{
    int64_t ns = s->runtime->settings.observe.sample_ns;

    if (ns >= SLEEP_NS_MIN)
        nanosleep(&(struct timespec){.tv_sec = ns / NS_PER_SECOND, .tv_nsec = ns % NS_PER_SECOND},
                  NULL);
    while (fi_clock_ticks() < until && !fi_load_relaxed(&s->stopping))
        fi_pause();
}

static void *sampler_thread(void *arg)
{
    sampler *s = arg;
    char name[16];

    snprintf(name, sizeof name, "%.8s-sample", s->runtime->settings.name);
    pthread_setname_np(pthread_self(), name);
    take_sample(s);
    sem_post(&s->started);
    while (!fi_load_relaxed(&s->stopping)) {
        if (s->pause_ticks)
            pause_until(s, fi_clock_ticks() + s->pause_ticks);
        take_sample(s);
    }
    take_sample(s); /* the workers have stopped: the final values */
    return NULL;
}

/* ---- begin ---- */

static bool is_allowed_cpu(int cpu)
{
    cpu_set_t allowed;

    return cpu < CPU_SETSIZE && sched_getaffinity(0, sizeof allowed, &allowed) == 0 &&
           CPU_ISSET((size_t)cpu, &allowed);
}

static int init_attr(pthread_attr_t *attr, int cpu)
{
    cpu_set_t one;

    pthread_attr_init(attr);
    if (cpu < 0)
        return 0;
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    return -pthread_attr_setaffinity_np(attr, sizeof one, &one);
}

/* All signals are blocked: they belong to the program's own threads. */
static int start_thread(sampler *s)
{
    pthread_attr_t attr;
    sigset_t all, mask;
    int e = init_attr(&attr, s->runtime->settings.observe.sample_cpu);

    if (e == 0) {
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &mask);
        e = -pthread_create(&s->thread, &attr, sampler_thread, s);
        pthread_sigmask(SIG_SETMASK, &mask, NULL);
    }
    pthread_attr_destroy(&attr);
    return e;
}

static int alloc_buffers(sampler *s)
{
    unsigned n = s->runtime->n_workers;
    int e = fi_samples_init(&s->samples, n, BUFFER_BYTES);

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

static void free_buffers(sampler *s)
{
    FI_DELETE_ARRAY(uint32_t, s->first_tops, s->samples.deques);
    fi_samples_fini(&s->samples);
}

static int start_with_buffers(sampler *s)
{
    int e;

    if (sem_init(&s->started, 0, 0) < 0)
        return -errno;
    fi_store_relaxed(&s->stopping, 0u);
    s->max_ticks = fi_clock_ns_to_ticks(SAMPLE_NS_MAX * ((int64_t)s->samples.deques + 1));
    s->pause_ticks = fi_clock_ns_to_ticks(s->runtime->settings.observe.sample_ns);
    e = start_thread(s);
    if (e == 0)
        while (sem_wait(&s->started) < 0 && errno == EINTR)
            ;
    else
        sem_destroy(&s->started);
    return e;
}

static int sampler_start(sampler *s)
{
    int e = alloc_buffers(s);

    if (e < 0)
        return e;
    e = start_with_buffers(s);
    if (e < 0)
        free_buffers(s);
    return e;
}

/* In the child of a fork() the thread does not exist, and the samples are the parent's. */
static void sampler_fork_child(sampler *s)
{
    free_buffers(s);
    s->pid = 0;
}

/* A program must not fail because it cannot be observed. */
static void sampler_try_start(sampler *s, fi_runtime *rt)
{
    int e = fi_output_init(&s->output, "FILCH_SAMPLE", rt->settings.observe.sample);

    if (e == 0)
        e = fi_output_check(&s->output);
    if (e < 0)
        return;
    s->runtime = rt;
    e = sampler_start(s);
    if (e < 0) {
        fi_message(FILCH_LEVEL_ERROR, "FILCH_SAMPLE: cannot start the sampler: %s", strerror(-e));
        return;
    }
    s->pid = getpid();
    rt->n_observer_threads++;
}

static int sampler_begin(fi_runtime *rt)
{
    const fi_observe_settings *s = &rt->settings.observe;

    if (the_sampler.pid != 0)
        sampler_fork_child(&the_sampler);
    if (!s->sample)
        return 0;
    if (s->sample_cpu >= 0 && !is_allowed_cpu(s->sample_cpu)) {
        int e = fi_option_reject("FILCH_SAMPLE_CPU: not a CPU of this process (%d); use one of its "
                                 "CPUs",
                                 s->sample_cpu);
        if (e < 0)
            return e;
        rt->settings.observe.sample_cpu = -1;
    }
    sampler_try_start(&the_sampler, rt);
    return 0;
}

/* ---- end ---- */

/* The kernel separates the arguments by zero bytes. */
static void copy_command_line(char *out, size_t size)
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
    copy_command_line(head.program, sizeof head.program);
    return fi_samples_write(&s->samples, &head, fd);
}

static void write_file(sampler *s)
{
    int fd = fi_output_open(&s->output);

    if (fd >= 0)
        fi_output_close(&s->output, write_samples(s, fd));
}

static void sampler_stop(sampler *s, bool has_run)
{
    fi_store_relaxed(&s->stopping, 1u);
    pthread_join(s->thread, NULL);
    sem_destroy(&s->started);
    if (has_run)
        write_file(s);
    free_buffers(s);
    s->pid = 0;
}

static void sampler_end(fi_runtime *rt, bool has_run)
{
    (void)rt;
    if (the_sampler.pid == getpid())
        sampler_stop(&the_sampler, has_run);
}

static void sampler_incident(fi_runtime *rt, fi_incident incident)
{
    if (incident == FI_INCIDENT_EXIT)
        sampler_end(rt, true);
}

const fi_observer fi_observe_samples = {
    .begin = sampler_begin, .end = sampler_end, .incident = sampler_incident};
