/* A wrong argument: the call returns an error or does nothing, and one message names the function
 * and the argument. */
#include "check.h"

#include <filch/filch.h>

#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static int n_messages;
static char last_message[256];

static void keep_message(filch_level level, const char *text, void *ctx)
{
    (void)ctx;
    n_messages += level == FILCH_LEVEL_ERROR;
    snprintf(last_message, sizeof last_message, "%s", text);
}

/* One message since the last call, and it begins with this text. */
static bool is_named(const char *start)
{
    bool named = n_messages == 1 && strncmp(last_message, start, strlen(start)) == 0;

    if (!named)
        fprintf(stderr, "%d messages, the last: %s\n", n_messages, last_message);
    n_messages = 0;
    return named;
}

static void nothing(void *arg)
{
    (void)arg;
}

static void *same(void *arg)
{
    return arg;
}

static void constructors_return_null(void **state)
{
    filch_fiber_attr attr = {.stack_size = SIZE_MAX};

    (void)state;
    filch_set_message_handler(keep_message, NULL);
    CHECK(!filch_fiber_start_attr(&attr, same, NULL) &&
          is_named("filch_fiber_start_attr: stack_size: too large"));
    CHECK(!filch_job_new_copy(nothing, "", FILCH_JOB_PAYLOAD_MAX + 1) &&
          is_named("filch_job_new_copy: size: too large (65)"));
    CHECK(!filch_chan_new(8, SIZE_MAX / 4) && is_named("filch_chan_new: capacity: too large"));
    CHECK_INT(filch_stop(), 0);
}

static void calls_return_an_error(void **state)
{
    filch_fiber_attr attr = {.stack_size = SIZE_MAX};
    filch_allocator none = {0};

    (void)state;
    filch_set_message_handler(keep_message, NULL);
    CHECK(filch_go_attr(&attr, nothing, NULL) == -EINVAL &&
          is_named("filch_go_attr: stack_size: too large"));
    CHECK(filch_set_allocator(&none) == -EINVAL && is_named("filch_set_allocator: alloc is NULL"));
    CHECK(filch_fls_set(-1, &none) == -EINVAL &&
          is_named("filch_fls_set: the key does not exist (-1)"));
    CHECK(filch_wait_fd(0, 0) == -EINVAL && is_named("filch_wait_fd: what is wrong (0)"));
    CHECK_INT(filch_stop(), 0);
}

static void channels(void **state)
{
    filch_case wrong[] = {{FILCH_CASE_KIND_RECV, NULL, NULL, 0},
                          {(filch_case_kind)2, NULL, NULL, 0}};
    int item = 0;

    (void)state;
    CHECK(filch_chan_send(NULL, &item) == -EINVAL && is_named("filch_chan_send: c is NULL"));
    CHECK(filch_chan_send_until(NULL, &item, 0) == -EINVAL &&
          is_named("filch_chan_send_until: c is NULL; pass a channel of filch_chan_new"));
    CHECK(filch_chan_try_send(NULL, &item) == -EINVAL && is_named("filch_chan_try_send: c is"));
    CHECK(filch_chan_recv(NULL, &item) == -EINVAL && is_named("filch_chan_recv: c is NULL"));
    CHECK(filch_chan_recv_until(NULL, &item, 0) == -EINVAL &&
          is_named("filch_chan_recv_until: c is NULL"));
    CHECK(filch_chan_try_recv(NULL, &item) == -EINVAL && is_named("filch_chan_try_recv: c is"));
    CHECK(filch_chan_close(NULL) == -EINVAL && is_named("filch_chan_close: c is NULL"));
    CHECK(filch_select(NULL, 1) == -EINVAL && is_named("filch_select: cases is NULL"));
    CHECK(filch_select_until(wrong, 2, 0) == -EINVAL &&
          is_named("filch_select_until: cases: not a filch_case_kind (case 1: 2)"));
    CHECK(filch_try_select(NULL, FILCH_SELECT_MAX + 1) == -EINVAL &&
          is_named("filch_try_select: too many cases (65)"));
    /* allowed */
    CHECK_INT(filch_try_select(NULL, 0), -EAGAIN);
    CHECK(filch_chan_size(NULL) == 0 && filch_chan_capacity(NULL) == 0);
    filch_chan_free(NULL);
    CHECK_INT(n_messages, 0);
}

static void fibers(void **state)
{
    filch_fiber_attr attr = {0};

    (void)state;
    CHECK(filch_go_attr(&attr, NULL, NULL) == -EINVAL &&
          is_named("filch_go_attr: body is NULL; pass a function"));
    CHECK(!filch_fiber_start(NULL, NULL) && is_named("filch_fiber_start: body is NULL"));
    CHECK(!filch_fiber_start_attr(&attr, NULL, NULL) &&
          is_named("filch_fiber_start_attr: body is NULL"));
    CHECK(filch_fiber_join(NULL, NULL) == -EINVAL && is_named("filch_fiber_join: f is NULL"));
    CHECK(filch_fiber_join_until(NULL, NULL, 0) == -EINVAL &&
          is_named("filch_fiber_join_until: f is NULL; pass a fiber of filch_fiber_start"));
    CHECK(filch_main(NULL, 0, NULL) == EXIT_FAILURE &&
          is_named("filch_main: main_fiber is NULL; pass a function"));
    CHECK(filch_fls_free(-1) == -EINVAL && is_named("filch_fls_free: the key does not exist (-1)"));
    /* allowed */
    filch_fiber_detach(NULL), filch_fiber_cancel(NULL);
    CHECK(!filch_fiber_name(NULL) && !filch_fls_get(-1));
    CHECK(n_messages == 0 && filch_worker_count() == 0);
}

static void timers(void **state)
{
    filch_timer timer = FILCH_TIMER_INIT;
    filch_ticker ticker = FILCH_TICKER_INIT;

    (void)state;
    CHECK(filch_timer_start(&timer, 0, NULL, NULL) == -EINVAL &&
          is_named("filch_timer_start: work is NULL; pass a function"));
    CHECK(filch_timer_restart(&timer, 0) == -EINVAL &&
          is_named("filch_timer_restart: the timer was never started"));
    CHECK(filch_ticker_start(&ticker, 0, 1, NULL, NULL) == -EINVAL &&
          is_named("filch_ticker_start: work is NULL; pass a function"));
    CHECK(filch_ticker_start(&ticker, 0, 0, nothing, NULL) == -EINVAL &&
          is_named("filch_ticker_start: the period is not positive (0)"));
    CHECK_INT(filch_timer_stop(&timer) + filch_ticker_stop(&ticker), 0);
    CHECK_INT(n_messages, 0);
}

static int fallible(void *arg)
{
    (void)arg;
    return 0;
}

static void new_jobs(void **state)
{
    (void)state;
    CHECK(!filch_job_new(NULL, NULL) && is_named("filch_job_new: work is NULL; pass a function"));
    CHECK(!filch_job_new_fallible(NULL, NULL) && is_named("filch_job_new_fallible: work is NULL"));
    CHECK(!filch_job_new_copy(NULL, "", 1) && is_named("filch_job_new_copy: work is NULL"));
    CHECK(!filch_job_new_copy(nothing, NULL, 1) && is_named("filch_job_new_copy: payload is NULL"));
    CHECK(n_messages == 0 && filch_worker_count() == 0);
}

static void setters_of_jobs(void **state)
{
    filch_job *j = filch_job_new_fallible(fallible, NULL);
    filch_group g = FILCH_GROUP_INIT;
    filch_pump p = FILCH_PUMP_INIT;

    (void)state;
    filch_job_set_name(NULL, "none");
    CHECK(is_named("filch_job_set_name: job is NULL; pass a job of filch_job_new"));
    filch_job_set_priority(NULL, FILCH_PRIORITY_LOW);
    CHECK(is_named("filch_job_set_priority: job is NULL"));
    filch_job_set_priority(j, (filch_priority)3);
    CHECK(is_named("filch_job_set_priority: not a filch_priority (3)"));
    filch_job_set_priority(j, (filch_priority)-1);
    CHECK(is_named("filch_job_set_priority: not a filch_priority (-1)"));
    filch_job_set_pump(NULL, &p);
    CHECK(is_named("filch_job_set_pump: job is NULL"));
    CHECK(filch_job_set_parent(NULL, j) == -EINVAL && is_named("filch_job_set_parent: child is"));
    CHECK(filch_job_set_parent(j, NULL) == -EINVAL && is_named("filch_job_set_parent: parent is"));
    CHECK(filch_job_set_group(NULL, &g) == -EINVAL && is_named("filch_job_set_group: job is NULL"));
    CHECK(filch_job_set_group(j, NULL) == -EINVAL && is_named("filch_job_set_group: g is NULL"));
    CHECK(!filch_job_child_group(NULL) && is_named("filch_job_child_group: job is NULL"));
    CHECK(filch_group_set_deadline(NULL, 0) == -EINVAL &&
          is_named("filch_group_set_deadline: g is NULL; pass a group"));
    filch_job_set_pump(j, NULL); /* allowed */
    CHECK_INT(filch_job_submit(j), 0);
    CHECK_INT(filch_job_wait(j), 0);
    CHECK_INT(n_messages, 0);
}

static void uses_of_jobs(void **state)
{
    filch_job *j = filch_job_new(nothing, NULL);
    filch_pump p = FILCH_PUMP_INIT;

    (void)state;
    CHECK(filch_job_after(NULL, j) == -EINVAL && is_named("filch_job_after: job is NULL"));
    CHECK(filch_job_after(j, NULL) == -EINVAL && is_named("filch_job_after: dependency is NULL"));
    CHECK(filch_job_then(NULL, j) == -EINVAL && is_named("filch_job_then: dependency is NULL"));
    CHECK(filch_job_then(j, NULL) == -EINVAL && is_named("filch_job_then: job is NULL"));
    CHECK(filch_job_submit(NULL) == -EINVAL && is_named("filch_job_submit: job is NULL"));
    CHECK(filch_job_wait(NULL) == -EINVAL && is_named("filch_job_wait: job is NULL"));
    CHECK(filch_job_wait_until(NULL, 0) == -EINVAL && is_named("filch_job_wait_until: job is"));
    CHECK(filch_job_is_done(NULL) && is_named("filch_job_is_done: job is NULL"));
    CHECK(!filch_job_is_cancelled(NULL) && is_named("filch_job_is_cancelled: job is NULL"));
    CHECK(filch_pump_run(NULL) == 0 && is_named("filch_pump_run: p is NULL; pass a pump"));
    CHECK(filch_pump_wait(&p, NULL) == -EINVAL && is_named("filch_pump_wait: job is NULL"));
    CHECK(filch_pump_wait_until(NULL, j, 0) == -EINVAL &&
          is_named("filch_pump_wait_until: p is NULL"));
    filch_job_cancel(NULL), filch_job_release(NULL); /* allowed */
    filch_job_release(j);
    CHECK_INT(n_messages, 0);
}

static void strands(void **state)
{
    filch_strand s = FILCH_STRAND_INIT;

    (void)state;
    CHECK(filch_strand_call(&s, NULL, NULL) == -EINVAL &&
          is_named("filch_strand_call: work is NULL; pass a function"));
    CHECK_INT(filch_strand_run(&s, NULL, NULL), 0);
    CHECK_INT(filch_strand_wait(&s), 0);
    CHECK(is_named("filch_strand_run: work is NULL; pass a function"));
    CHECK_INT(filch_strand_stop(&s), 0);
    CHECK_INT(filch_stop(), 0);
}

static void visit(void *object, void *ctx)
{
    (void)object, (void)ctx;
    abort();
}

static void data_of_workers(void **state)
{
    filch_per_worker *p = filch_per_worker_new(1, NULL, NULL, NULL);
    filch_counters counters;

    (void)state;
    CHECK(!filch_per_worker_new(0, NULL, NULL, NULL) &&
          is_named("filch_per_worker_new: size is 0 (0); use 1 to "));
    CHECK(!filch_per_worker_new(SIZE_MAX, NULL, NULL, NULL) &&
          is_named("filch_per_worker_new: size is too large"));
    CHECK(!filch_per_worker_get(NULL) && is_named("filch_per_worker_get: data is NULL"));
    filch_per_worker_each(NULL, visit, NULL);
    CHECK(is_named("filch_per_worker_each: data is NULL"));
    filch_per_worker_each(p, NULL, NULL);
    CHECK(is_named("filch_per_worker_each: visit is NULL; pass a function"));
    filch_per_worker_free(p);
    CHECK(filch_stats_get(NULL) == -EINVAL && is_named("filch_stats_get: stats is NULL"));
    CHECK(filch_stats_worker(0, NULL) == -EINVAL && is_named("filch_stats_worker: counters is"));
    CHECK_INT(filch_stats_worker(0, &counters), -ESRCH);
    CHECK_INT(filch_start(NULL), 0);
    CHECK(filch_stats_worker(filch_worker_count(), &counters) == -EINVAL &&
          is_named("filch_stats_worker: there is no such worker ("));
    CHECK_INT(filch_stop(), 0);
    filch_per_worker_free(NULL); /* allowed */
    CHECK(!filch_counter_name(UINT_MAX) && filch_counter_value(&counters, UINT_MAX) == 0);
    CHECK_INT(n_messages, 0);
}

static int n_calls;

static void count_call(void *arg)
{
    (void)arg;
    n_calls++;
}

/* A call without a function does not count as the first one. */
static void once(void **state)
{
    filch_once o = {0};

    (void)state;
    filch_once_run(&o, NULL, NULL);
    CHECK(is_named("filch_once_run: work is NULL; pass a function"));
    filch_once_run(&o, count_call, NULL);
    filch_once_run(&o, NULL, NULL);
    CHECK(n_calls == 1 && n_messages == 0);
}

static void addresses(void **state)
{
    const struct addrinfo hints = {.ai_socktype = 4711};
    struct addrinfo *result;

    (void)state;
    CHECK(filch_listen("127.0.0.1", 65536, 1) == -EINVAL &&
          is_named("filch_listen: port is out of range (65536); use 0 to 65535"));
    CHECK(filch_listen_flags("/tmp/x", 1, 1, 0) == -EINVAL &&
          is_named("filch_listen_flags: port is not 0 for a path (1); use 0"));
    CHECK(filch_listen_flags("127.0.0.1", 0, 1, 2) == -EINVAL &&
          is_named("filch_listen_flags: unknown flags (0x2)"));
    CHECK(filch_udp_bind("/tmp/x", 0, 0) == -EINVAL &&
          is_named("filch_udp_bind: host is a path ('/tmp/x'); use an address or a name"));
    CHECK(filch_udp_bind(NULL, 0, 2) == -EINVAL && is_named("filch_udp_bind: unknown flags (0x2)"));
    CHECK(filch_connect(NULL, -1) == -EINVAL && is_named("filch_connect: port is out of range"));
    CHECK(filch_connect_until(NULL, -1, 0) == -EINVAL && is_named("filch_connect_until: port is"));
    CHECK(filch_udp_connect(NULL, -1) == -EINVAL && is_named("filch_udp_connect: port is out of"));
    CHECK(filch_udp_connect_until("/x", 0, 0) == -EINVAL &&
          is_named("filch_udp_connect_until: host is a path ('/x')"));
    CHECK(filch_getaddrinfo(NULL, NULL, NULL, &result) == -EINVAL &&
          is_named("filch_getaddrinfo: host and service are NULL"));
    CHECK(filch_getaddrinfo("::1", NULL, NULL, NULL) == -EINVAL &&
          is_named("filch_getaddrinfo: result is NULL; pass a place for the list"));
    CHECK(filch_getaddrinfo("::1", "1", &hints, &result) == -EINVAL &&
          is_named("filch_getaddrinfo: hints are wrong (flags 0, family 0, type 4711)"));
}

static void descriptors(void **state)
{
    struct sockaddr_storage from;
    struct sockaddr *address = (struct sockaddr *)&from;
    off_t negative = -1;
    sigset_t none;
    char byte;

    (void)state;
    sigemptyset(&none);
    CHECK(filch_readv(0, NULL, 1) == -EINVAL && is_named("filch_readv: v is NULL"));
    CHECK(filch_readv(0, NULL, -1) == -EINVAL && is_named("filch_readv: n is negative (-1)"));
    CHECK(filch_writev(1, NULL, 1) == -EINVAL && is_named("filch_writev: v is NULL"));
    CHECK(filch_writev(1, NULL, -1) == -EINVAL && is_named("filch_writev: n is negative (-1)"));
    CHECK(filch_pread(0, &byte, 1, -1) == -EINVAL && is_named("filch_pread: offset is negative"));
    CHECK(filch_pwrite(0, "", 1, -1) == -EINVAL && is_named("filch_pwrite: offset is negative"));
    CHECK(filch_sendfile(1, 0, &negative, 1) == -EINVAL &&
          is_named("filch_sendfile: offset is negative (-1)"));
    CHECK(filch_recvfrom(0, &byte, 1, 0, address, NULL) == -EINVAL &&
          is_named("filch_recvfrom: size is NULL; pass the capacity of address"));
    CHECK(filch_accept_from(0, address, NULL) == -EINVAL &&
          is_named("filch_accept_from: size is NULL"));
    CHECK(filch_accept_from_until(0, address, NULL, 0) == -EINVAL &&
          is_named("filch_accept_from_until: size is NULL"));
    CHECK(filch_waitpid(-1, NULL, 0) == -EINVAL && is_named("filch_waitpid: pid must be"));
    CHECK(filch_waitpid(1, NULL, 1 << 20) == -EINVAL &&
          is_named("filch_waitpid: unknown options (0x100000)"));
    CHECK(filch_signal_wait(NULL, 0) == -EINVAL && is_named("filch_signal_wait: set is NULL"));
    CHECK(filch_signal_wait(&none, 0) == -EINVAL && is_named("filch_signal_wait: set is empty"));
    CHECK(filch_run_blocking(NULL, NULL) == -EINVAL &&
          is_named("filch_run_blocking: call is NULL; pass a function"));
}

CHECK_MAIN(constructors_return_null, calls_return_an_error, channels, fibers, timers, new_jobs,
           setters_of_jobs, uses_of_jobs, strands, data_of_workers, once, addresses, descriptors)
