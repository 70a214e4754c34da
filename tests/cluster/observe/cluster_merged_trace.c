/* Trace files of ranks become one valid file, whatever they contain and however they are cut into
 * pieces. */
#define _GNU_SOURCE
#include "messages.h"

#include "observe/json_check.h"
#include "observe/merged_trace.h"
#include "protocol/message.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)

static char path[64], text[1 << 16];
static fi_merged_trace *merged;

/* A file as src/observe/trace_json.c writes it. */
#define HEAD(start, end, length)                                                                   \
    "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"made by\":\"Filch\",\"reason\":\"stop\","        \
    "\"clock\":\"TSC\",\"start ns\":" start ",\"end ns\":" end ",\"length ns\":" length            \
    ",\"workers\":2,\"events overwritten\":3},\"traceEvents\":[\n"
#define EVENTS                                                                                     \
    "{\"ph\":\"M\",\"pid\":77,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"p: "        \
    "workers\"}},\n"                                                                               \
    "{\"ph\":\"M\",\"pid\":77,\"tid\":0,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":" \
    "0}},\n"                                                                                       \
    "{\"ph\":\"M\",\"pid\":4194381,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"p: "   \
    "fibers that wait\"}},\n"                                                                      \
    "{\"ph\":\"M\",\"pid\":77,\"tid\":78,\"name\":\"thread_name\",\"args\":{\"name\":\"worker "    \
    "0\"}},\n"                                                                                     \
    "{\"ph\":\"X\",\"pid\":77,\"tid\":78,\"ts\":1000.500,\"dur\":2.000,\"cat\":\"fiber\","         \
    "\"name\":\"f,\\\"ts\\\":1\",\"args\":{\"fiber\":1}},\n"                                       \
    "{\"ph\":\"C\",\"pid\":77,\"ts\":5.000,\"name\":\"ready fibers\",\"args\":{\"fibers\":1}},\n"  \
    "{\"ph\":\"i\",\"pid\":77,\"tid\":78,\"ts\":6.000,\"s\":\"t\",\"name\":\"steals 1\"},\n"       \
    "{\"ph\":\"s\",\"pid\":77,\"tid\":78,\"ts\":1001.000,\"cat\":\"wake\",\"name\":\"wakes\","     \
    "\"id\":1},\n"                                                                                 \
    "{\"ph\":\"f\",\"pid\":77,\"tid\":78,\"ts\":1002.000,\"cat\":\"wake\",\"name\":\"wakes\","     \
    "\"id\":1,\"bp\":\"e\"},\n"                                                                    \
    "{\"ph\":\"X\",\"pid\":4194381,\"tid\":5,\"ts\":1.000,\"dur\":1.000,\"cat\":\"run\","          \
    "\"name\":\"runs\"}\n"
#define WHOLE HEAD("5000000000", "15000000000", "10000000000") EVENTS "]}\n"

static void merge_begin(unsigned ranks)
{
    messages_reset();
    snprintf(path, sizeof path, "/tmp/filch-merged-%d.json", (int)getpid());
    unlink(path);
    CHECK_INT(fi_merged_trace_open(&merged, path, ranks), 0);
}

static void merge_rank(unsigned rank, fi_clock_map clock)
{
    fi_trace_source source = {.rank = rank, .pid = 100 + (int)rank, .host = "node", .clock = clock};

    CHECK_INT(fi_merged_trace_rank(merged, &source), 0);
}

static void merge_file(const char *file, size_t piece)
{
    for (size_t i = 0, n = strlen(file); i < n; i += piece)
        CHECK_INT(fi_merged_trace_append(merged, file + i, n - i < piece ? n - i : piece), 0);
}

/* Each line but the first and the last is an event.  Without line breaks, all is one object. */
static void check_lines(void)
{
    char copy[sizeof text];
    size_t n = 0;

    for (const char *c = text; *c; c++)
        if (*c != '\n')
            copy[n++] = *c;
    CHECK(fi_json_is_object(copy, copy + n));
}

static const char *merge_end(void)
{
    int fd;
    ssize_t n;

    CHECK_INT(fi_merged_trace_close(merged), 0);
    fd = open(path, O_RDONLY);
    n = read(fd, text, sizeof text - 1);
    CHECK(n >= 0 && n < (ssize_t)sizeof text - 1);
    text[n] = '\0';
    close(fd);
    unlink(path);
    check_lines();
    return text;
}

static int count(const char *what)
{
    int n = 0;

    for (const char *c = text; (c = strstr(c, what)) != NULL; c++)
        n++;
    return n;
}

/* Time 0 is 1,000 s before the first trace. */
static void events_are_of_their_rank(void **state)
{
    (void)state;
    merge_begin(2);
    merge_rank(0, (fi_clock_map){0});
    merge_file(WHOLE, 1 << 20);
    merge_rank(1, (fi_clock_map){.offset_ns = -3000});
    merge_file(WHOLE, 1 << 20);
    merge_end();
    CHECK_STR(messages, "");
    CHECK_INT(count("\"name\":\"rank 0 on node: workers\""), 1);
    CHECK_INT(count("\"name\":\"rank 1 on node: fibers that wait\""), 1);
    CHECK_INT(count("p: workers"), 0);
    CHECK_INT(count("{\"ph\":\"X\",\"pid\":1,\"tid\":78,\"ts\":1000001000.500,\"dur\":2.000,"), 1);
    CHECK_INT(count("{\"ph\":\"X\",\"pid\":3,\"tid\":78,\"ts\":1000000997.500,\"dur\":2.000,"), 1);
    CHECK_INT(count("{\"ph\":\"X\",\"pid\":4,\"tid\":5,\"ts\":999999998.000,"), 1);
    CHECK_INT(count("{\"ph\":\"C\",\"pid\":3,\"ts\":1000000002.000,\"name\":\"ready fibers\","), 1);
    CHECK_INT(count("\"id\":68719476737"), 2);  /* 1 << 36 | 1 */
    CHECK_INT(count("\"id\":137438953473"), 2); /* 2 << 36 | 1 */
    CHECK_INT(count("\"name\":\"f,\\\"ts\\\":1\""), 2);
    CHECK_INT(count("\"ranks\":2,\"events overwritten\":6,"), 1);
}

static void a_line_may_be_split(void **state)
{
    static char whole[sizeof text];

    (void)state;
    for (size_t piece = 1; piece < 200; piece += piece < 20 ? 1 : 13) {
        merge_begin(1);
        merge_rank(0, (fi_clock_map){0});
        merge_file(WHOLE, piece);
        merge_end();
        CHECK_STR(messages, "");
        if (piece == 1)
            memcpy(whole, text, sizeof whole);
        CHECK_STR(text, whole);
    }
}

/* The ticks of the trace are 100 us per second slower than CLOCK_MONOTONIC. */
static void ticks_are_converted(void **state)
{
    (void)state;
    merge_begin(1);
    merge_rank(0, (fi_clock_map){0});
    merge_file(HEAD("5000000000", "15001000000", "10000000000") EVENTS "]}\n", 100);
    merge_end();
    CHECK_INT(count("\"ts\":1000001000.600,\"dur\":2.000,"), 1);
}

/* ---- damage ---- */

static void missing_files_are_named(void **state)
{
    (void)state;
    merge_begin(4);
    merge_rank(1, (fi_clock_map){0});
    merge_rank(0, (fi_clock_map){0});
    merge_file(WHOLE, 64);
    merge_end();
    CHECK_INT(n_messages, 2);
    CHECK(strstr(messages, "FILCH_TRACE: rank 1 (node, pid 101) wrote no trace;"));
    CHECK(strstr(messages, "FILCH_TRACE: rank 2 and other ranks sent no trace;"));
    CHECK_INT(count("{\"ph\":\"X\""), 2);
}

static void a_truncated_file_keeps_its_first_events(void **state)
{
    size_t n = strlen(WHOLE);
    char *file = strdup(WHOLE);

    (void)state;
    for (size_t length = n - 1; length > 0; length -= length > 7 ? 7 : length) {
        file[length] = '\0';
        merge_begin(2);
        merge_rank(0, (fi_clock_map){0});
        merge_file(file, 1000);
        merge_rank(1, (fi_clock_map){0});
        merge_file(WHOLE, 1000);
        merge_end();
        CHECK_INT(n_messages, 1);
        CHECK(strstr(messages, "FILCH_TRACE: the trace of rank 0 (node, pid 100) has no end;"));
        CHECK(count("{\"ph\":\"X\",\"pid\":3,") == 1);
    }
    free(file);
}

static void damaged_lines_end_the_rank(void **state)
{
    static const char *const lines[] = {
        "not json\n",
        "{\"ph\":\"X\",\"pid\":77}\n",
        "{\"ph\":\"Q\",\"pid\":77,\"tid\":1,\"ts\":1.000}\n",
        "{\"ph\":\"X\",\"pid\":99,\"tid\":1,\"ts\":1.000,\"dur\":1.000}\n",
        "{\"ph\":\"X\",\"pid\":77,\"tid\":1,\"ts\":1,\"dur\":1.000}\n",
        "{\"ph\":\"X\",\"pid\":77,\"tid\":1,\"ts\":99999999999999999999.000,\"dur\":1.000}\n",
        "{\"ph\":\"i\",\"pid\":77,\"tid\":1,\"ts\":1.000,\"s\":\"t\",\"name\":\"\xff\"}\n",
        "{\"ph\":\"i\",\"pid\":77,\"tid\":1,\"ts\":1.000}]}\n",
        ("{\"ph\":\"s\",\"pid\":77,\"tid\":1,\"ts\":1.000,\"cat\":\"wake\",\"name\":\"wakes\","
         "\"id\":99999999999999}\n"),
        "\n",
    };
    static char file[1 << 18];

    (void)state;
    for (size_t i = 0; i <= sizeof lines / sizeof *lines; i++) {
        bool is_long = i == sizeof lines / sizeof *lines;
        int n = snprintf(file, sizeof file, "%s%s%s", HEAD("1", "2", "1"), EVENTS,
                         is_long ? "" : lines[i]);
        if (is_long) { /* longer than any line */
            memset(file + n, 'x', 100000);
            n += 100000;
        }
        snprintf(file + n, sizeof file - (size_t)n, "%s]}\n", EVENTS);
        merge_begin(1);
        merge_rank(0, (fi_clock_map){0});
        merge_file(file, is_long ? 5000 : 10);
        merge_end();
        CHECK_INT(n_messages, 1);
        CHECK(strstr(messages, "the trace of rank 0 (node, pid 100) is damaged in line 12;"));
        CHECK_INT(count("{\"ph\":\"i\""), 1);
    }
}

static void a_wrong_head_is_damage(void **state)
{
    (void)state;
    merge_begin(1);
    merge_rank(0, (fi_clock_map){0});
    merge_file("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" EVENTS "]}\n", 64);
    merge_end();
    CHECK(strstr(messages, "is damaged in line 1;"));
    CHECK_INT(count("{\"ph\":\"X\""), 0);
}

static void bytes_after_the_end_are_damage(void **state)
{
    (void)state;
    merge_begin(1);
    merge_rank(0, (fi_clock_map){0});
    merge_file(WHOLE "more\n", 64);
    merge_end();
    CHECK(strstr(messages, "is damaged in line 13;"));
}

/* A host name may contain anything. */
static void names_of_hosts_are_escaped(void **state)
{
    fi_trace_source source = {.rank = 0, .host = "a\"\\\n\xff z"};

    (void)state;
    merge_begin(1);
    CHECK_INT(fi_merged_trace_rank(merged, &source), 0);
    CHECK_INT(fi_merged_trace_rank(merged, &source), -EINVAL);
    source.rank = 1;
    CHECK_INT(fi_merged_trace_rank(merged, &source), -EINVAL);
    merge_file(WHOLE, 64);
    merge_end();
    CHECK_INT(count("rank 0 on a?????z: workers"), 1);
}

/* ---- loots ---- */

static fi_loot loot(bool is_out, unsigned peer, uint64_t number, int64_t ns, unsigned kind)
{
    return (fi_loot){.ns = ns,
                     .number = number,
                     .bytes = 1000 + number,
                     .peer = peer,
                     .kind = (uint16_t)kind,
                     .is_out = is_out};
}

/* Rank 1 sends two loots.  The clock of rank 2 is wrong by 2 us, so the first seems to be opened
 * before it was sent.  A third has no other end. */
static void loots_have_arrows(void **state)
{
    fi_loot out[] = {loot(true, 2, 1, 6 * SECOND, FI_LOOT),
                     loot(true, 2, 2, 6 * SECOND + 300, FI_GIFT),
                     loot(true, 0, 3, 7 * SECOND, FI_LOOT)};
    fi_loot in[] = {loot(false, 1, 1, 6 * SECOND - 2000, FI_LOOT),
                    loot(false, 1, 2, 6 * SECOND + 5000, FI_GIFT)};

    (void)state;
    merge_begin(3);
    merge_rank(0, (fi_clock_map){0});
    merge_file(WHOLE, 64);
    merge_rank(1, (fi_clock_map){0});
    CHECK_INT(fi_merged_trace_loots(merged, out, 3), 0);
    merge_file(WHOLE, 64);
    merge_rank(2, (fi_clock_map){0});
    merge_file(WHOLE, 64);
    CHECK_INT(fi_merged_trace_loots(merged, in, 1), 0);
    CHECK_INT(fi_merged_trace_loots(merged, in + 1, 1), 0);
    merge_end();
    CHECK_STR(messages, "");
    CHECK_INT(count("\"name\":\"thread_name\",\"args\":{\"name\":\"loot\"}"), 2);
    CHECK_INT(count("{\"ph\":\"X\",\"pid\":3,\"tid\":8388608,\"ts\":1001000000.000,\"dur\":0.300,"
                    "\"cat\":\"loot\",\"name\":\"loot to rank 2\",\"args\":{\"bytes\":1001,"),
              1);
    CHECK_INT(count("\"ts\":1001000000.300,\"dur\":1.000,\"cat\":\"loot\","
                    "\"name\":\"gift to rank 2\""),
              1);
    CHECK_INT(count("{\"ph\":\"X\",\"pid\":5,\"tid\":8388608,\"ts\":1001000000.001,\"dur\":1.000,"
                    "\"cat\":\"loot\",\"name\":\"loot from rank 1\""),
              1);
    CHECK_INT(count("{\"ph\":\"s\",\"pid\":3,\"tid\":8388608,"), 2);
    CHECK_INT(count("{\"ph\":\"f\",\"pid\":5,\"tid\":8388608,"), 2);
    CHECK_INT(count("\"loots\":2,\"loots left out\":0"), 1);
}

/* A rank without a file can have loots. */
static void loots_need_no_file(void **state)
{
    fi_loot out = loot(true, 1, 1, 6 * SECOND, FI_LOOT), in = out;
    fi_trace_source source = {.rank = 1, .host = "node", .loots_dropped = 5};

    (void)state;
    in.is_out = 0;
    in.peer = 0;
    merge_begin(2);
    merge_rank(0, (fi_clock_map){0});
    CHECK_INT(fi_merged_trace_loots(merged, &out, 1), 0);
    CHECK_INT(fi_merged_trace_rank(merged, &source), 0);
    CHECK_INT(fi_merged_trace_loots(merged, &in, 1), 0);
    merge_end();
    CHECK_INT(n_messages, 2);
    CHECK_INT(count("\"loots\":1,\"loots left out\":5"), 1);
}

/* ---- files ---- */

static void errors_of_the_file_are_reported(void **state)
{
    (void)state;
    messages_reset();
    CHECK_INT(fi_merged_trace_open(&merged, "/tmp/filch-no-such-directory/x", 1), -ENOENT);
    CHECK_STR(messages, "FILCH_TRACE: cannot write /tmp/filch-no-such-directory/x: No such file or "
                        "directory\n");
    messages_reset();
    CHECK_INT(fi_merged_trace_open(&merged, "/dev/full", 1), 0);
    merge_rank(0, (fi_clock_map){0});
    merge_file(WHOLE, 1000);
    CHECK_INT(fi_merged_trace_close(merged), -ENOSPC);
    CHECK_STR(messages, "FILCH_TRACE: cannot write /dev/full: No space left on device\n");
}

/* Until the end, the old file is there.  The new one has its mode. */
static void a_file_is_replaced_at_the_end(void **state)
{
    struct stat s;
    int fd;

    (void)state;
    messages_reset();
    snprintf(path, sizeof path, "/tmp/filch-merged-%d.json", (int)getpid());
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK_INT(write(fd, "old", 3), 3);
    CHECK_INT(fchmod(fd, 0640), 0);
    close(fd);
    CHECK_INT(fi_merged_trace_open(&merged, path, 1), 0);
    merge_rank(0, (fi_clock_map){0});
    merge_file(WHOLE, 1000);
    CHECK_INT(stat(path, &s), 0);
    CHECK_INT(s.st_size, 3);
    CHECK_INT(fi_merged_trace_close(merged), 0);
    CHECK_INT(stat(path, &s), 0);
    CHECK(s.st_size > 100);
    CHECK_INT(s.st_mode & 0777, 0640);
    unlink(path);
}

CHECK_MAIN(events_are_of_their_rank, a_line_may_be_split, ticks_are_converted,
           missing_files_are_named, a_truncated_file_keeps_its_first_events,
           damaged_lines_end_the_rank, a_wrong_head_is_damage, bytes_after_the_end_are_damage,
           names_of_hosts_are_escaped, loots_have_arrows, loots_need_no_file,
           errors_of_the_file_are_reported, a_file_is_replaced_at_the_end)
