/* Rank 0 gathers counters and traces, over a network that delivers at once or later. */
#include "../observe/messages.h"

#include "run/gather.h"

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

enum { RANKS = 5, QUEUE = 100 };

static fi_gather gathers[RANKS];
static struct {
    unsigned to;
    fi_packet *packet;
} queue[QUEUE];
static unsigned n_queued, first;

static void stub_send(unsigned to, fi_packet *p)
{
    CHECK(to < RANKS && n_queued - first < QUEUE);
    queue[n_queued % QUEUE].to = to;
    queue[n_queued++ % QUEUE].packet = p;
}

static bool all_near(unsigned rank)
{
    (void)rank;
    return true;
}

static bool only_0_near(unsigned rank)
{
    return rank == 0;
}

static void deliver_all(void)
{
    do {
        while (fi_gather_step(&gathers[0]))
            ;
        if (first < n_queued) {
            unsigned i = first++ % QUEUE;

            CHECK(fi_gather_receive(&gathers[queue[i].to], queue[i].packet));
        }
        while (fi_gather_step(&gathers[0]))
            ;
    } while (first < n_queued);
}

static void start_all(bool prints_stats, const char *trace, bool is_near(unsigned))
{
    messages_reset();
    for (unsigned i = 0; i < RANKS; i++)
        fi_gather_start(&gathers[i], &(fi_gather_config){.rank = i,
                                                         .ranks = RANKS,
                                                         .prints_stats = prints_stats,
                                                         .trace = i == 0 ? trace : NULL,
                                                         .is_near = is_near,
                                                         .send = stub_send});
}

static fi_summary summary_of(unsigned rank)
{
    fi_summary s = {.pid = 100 + rank, .host = "node"};

    s.stats.items = UINT64_C(10) * (rank + 1);
    return s;
}

static void stop_rank(unsigned rank, const char *file, const fi_loot_log *loots)
{
    fi_summary s = summary_of(rank);

    fi_gather_stop(&gathers[rank], &s, file, loots);
}

static void check_over(void)
{
    for (unsigned i = 0; i < RANKS; i++) {
        CHECK(fi_gather_is_over(&gathers[i]));
        fi_gather_fini(&gathers[i]);
    }
}

/* Ranks stop in any order.  A query waits for the rank that is late. */
static void counters_of_all_ranks_are_printed(void **state)
{
    static const unsigned order[RANKS] = {3, 0, 4, 2, 1};

    (void)state;
    start_all(true, NULL, all_near);
    for (unsigned i = 0; i < RANKS; i++) {
        CHECK(!strstr(messages, "items"));
        stop_rank(order[i], NULL, NULL);
        deliver_all();
    }
    CHECK(strstr(messages, "counters of 5 ranks"));
    CHECK(strstr(messages,
                 "\nitems                                       150               10     0"
                 "               30               50     4\n"));
    check_over();
    filch_set_message_handler(NULL, NULL);
}

static void nothing_is_gathered_without_a_reason(void **state)
{
    (void)state;
    start_all(false, NULL, all_near);
    stop_rank(0, NULL, NULL);
    CHECK_INT(n_queued - first, RANKS - 1); /* the end, to each rank */
    CHECK(!fi_gather_is_ending(&gathers[1]));
    deliver_all();
    for (unsigned i = 1; i < RANKS; i++) {
        CHECK(fi_gather_is_ending(&gathers[i])); /* other ranks may be silent now */
        CHECK(!fi_gather_is_over(&gathers[i]));
        stop_rank(i, NULL, NULL);
    }
    check_over();
    CHECK_INT(n_messages, 0);
    filch_set_message_handler(NULL, NULL);
}

/* A file of the format of src/observe/trace_json.c, with one event. */
static void trace_write(const char *path, unsigned rank)
{
    FILE *out = fopen(path, "w");

    CHECK(out);
    fprintf(out,
            "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"made by\":\"test\",\"start ns\":%u,\"end "
            "ns\":2000000000,\"length ns\":1000000000},\"traceEvents\":[\n]}\n",
            1000000000 + rank);
    CHECK(fclose(out) == 0);
}

static char merged_text[100000];

static void merged_read(const char *path)
{
    FILE *in = fopen(path, "r");
    size_t n;

    CHECK(in);
    n = fread(merged_text, 1, sizeof merged_text - 1, in);
    merged_text[n] = '\0';
    fclose(in);
}

static void traces_are_merged(bool is_near(unsigned))
{
    char work[] = "/tmp/filch-gather-XXXXXX", merged[64], own[RANKS][64];
    fi_loot_log logs[RANKS];

    CHECK(mkdtemp(work));
    snprintf(merged, sizeof merged, "%s/merged", work);
    start_all(false, merged, is_near);
    for (unsigned i = RANKS; i-- > 0;) {
        unsigned next = (i + 1) % RANKS, last = (i + RANKS - 1) % RANKS;

        snprintf(own[i], sizeof own[i], "%s/own.%u", work, i);
        trace_write(own[i], i);
        fi_loot_log_init(&logs[i]);
        fi_loot_log_append(&logs[i], &(fi_loot){1500000000, 1, 100, next, FI_LOOT, 1});
        fi_loot_log_append(&logs[i], &(fi_loot){1500050000, 1, 100, last, FI_LOOT, 0});
        stop_rank(i, own[i], &logs[i]);
        deliver_all();
    }
    check_over();
    merged_read(merged);
    CHECK(strstr(merged_text, "\"ranks\":5,"));
    CHECK(strstr(merged_text, "\"loots\":5,"));
    CHECK(strstr(merged_text, "rank 4 on node: workers"));
    for (unsigned i = 0; i < RANKS; i++) {
        CHECK(access(own[i], F_OK) < 0); /* merged, so it is gone */
        fi_loot_log_fini(&logs[i]);
    }
    unlink(merged);
    rmdir(work);
    filch_set_message_handler(NULL, NULL);
}

static void traces_of_one_node_are_merged(void **state)
{
    (void)state;
    traces_are_merged(all_near);
}

/* The clocks of other nodes are compared at the start and at the stop. */
static void traces_of_several_nodes_are_merged(void **state)
{
    (void)state;
    traces_are_merged(only_0_near);
}

/* A job may end while rank 0 still asks other nodes for the time. */
static void a_short_job_is_merged(void **state)
{
    char work[] = "/tmp/filch-gather-XXXXXX", merged[64], own[RANKS][64];

    (void)state;
    CHECK(mkdtemp(work));
    snprintf(merged, sizeof merged, "%s/merged", work);
    start_all(false, merged, only_0_near);
    for (unsigned i = 0; i < RANKS; i++) {
        snprintf(own[i], sizeof own[i], "%s/own.%u", work, i);
        trace_write(own[i], i);
        stop_rank(i, own[i], NULL);
    }
    deliver_all();
    check_over();
    merged_read(merged);
    CHECK(strstr(merged_text, "\"ranks\":5,"));
    CHECK(strstr(merged_text, "rank 4 on node: workers"));
    unlink(merged);
    CHECK_INT(rmdir(work), 0);
    filch_set_message_handler(NULL, NULL);
}

/* A trace that cannot be written stays in the files of the ranks. */
static void files_stay_without_a_merged_trace(void **state)
{
    char own[] = "/tmp/filch-gather-XXXXXX";
    int fd = mkstemp(own);

    (void)state;
    CHECK(fd >= 0);
    close(fd);
    trace_write(own, 1);
    start_all(false, "/nonexistent/merged", all_near);
    for (unsigned i = 0; i < RANKS; i++)
        stop_rank(i, i == 1 ? own : NULL, NULL);
    deliver_all();
    check_over();
    CHECK(strstr(messages, "FILCH_TRACE: cannot write /nonexistent/merged"));
    CHECK_INT(unlink(own), 0);
    filch_set_message_handler(NULL, NULL);
}

static void replies_without_a_query_are_refused(void **state)
{
    fi_packet *p = fi_packet_new(0);

    (void)state;
    start_all(false, NULL, all_near);
    p->head = (fi_header){.kind = FI_REPLY, .from = 1};
    CHECK(!fi_gather_receive(&gathers[0], p));
    for (unsigned i = 0; i < RANKS; i++)
        fi_gather_fini(&gathers[i]);
}

CHECK_MAIN(counters_of_all_ranks_are_printed, nothing_is_gathered_without_a_reason,
           traces_of_one_node_are_merged, traces_of_several_nodes_are_merged, a_short_job_is_merged,
           files_stay_without_a_merged_trace, replies_without_a_query_are_refused)
