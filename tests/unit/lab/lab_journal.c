#define _GNU_SOURCE
/* The journal: complete lines are read back, a truncated end is dropped, and a different run is
 * refused. */
#include "check.h"
#include "lab/journal.h"

#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/lab_log_XXXXXX";
static char path[64];

static const char head[] = "{\"options\":{\"experiment\":\"x\",\"args\":\"a b\",\"quick\":true,"
                           "\"rounds\":3,\"workers\":2},\"left_out\":[]}";
static const char other_head[] =
    "{\"options\":{\"experiment\":\"x\",\"args\":\"a b\",\"quick\":true,"
    "\"rounds\":4,\"workers\":2},\"left_out\":[]}";
static const char first[] = "{\"key\":\"fib/tbb/2#0\",\"seconds\":0.5,\"report\":{\"size\":7,"
                            "\"samples\":[1,2],\"metrics\":{\"ns\":[3,4]},"
                            "\"counters\":{\"stolen\":[10,4,6]}},\"analysis\":{\"p\":0.5}}";
static const char second[] = "{\"key\":\"fib/tbb/2#1\",\"seconds\":0.25,\"report\":{\"size\":7,"
                             "\"samples\":[3]}}";
static const char failure[] =
    "{\"key\":\"fib/tbb/2#2\",\"seconds\":0.25,\"failed\":\"ended with 1\"}";

static void open_journal(lab_journal *journal)
{
    const char *why = journal_open(journal, path, head, false);
    if (why)
        fprintf(stderr, "%s\n", why);
    CHECK(!why);
}

static void write_log(const char *text)
{
    lab_journal journal;
    unlink(path);
    open_journal(&journal);
    CHECK(!journal_append(&journal, first));
    journal_close(&journal);
    FILE *file = fopen(path, "a");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static long size_of_file(void)
{
    struct stat s;
    CHECK(stat(path, &s) == 0);
    return (long)s.st_size;
}

static void results_are_read_back(void **state)
{
    (void)state;
    lab_journal journal;
    write_log("");
    open_journal(&journal);
    CHECK_INT(journal.results->count, 1);
    CHECK(results_find(journal.results, "fib/tbb/2#0") != NULL);
    CHECK(results_find(journal.results, "fib/tbb/2#1") == NULL);
    CHECK(!journal_append(&journal, second));
    CHECK(!journal_append(&journal, failure));
    journal_close(&journal);

    lab_results *r = journal_read(path);
    CHECK(r != NULL);
    CHECK_INT(r->count, 3);
    CHECK_INT(results_n_good(r), 2);
    CHECK(results_seconds(r) == 1);
    CHECK(results_find(r, "fib/tbb/2#2") == NULL); /* it failed, and is to run again */
    results_free(r);
}

static void values_by_name(void **state)
{
    (void)state;
    lab_journal journal;
    CHECK(!journal_in_memory(&journal, head));
    CHECK(!journal_append(&journal, first) && !journal_append(&journal, second) &&
          !journal_append(&journal, failure));
    const lab_results *r = journal.results;
    lab_numbers n = lab_values(r, LAB_SAMPLES, NULL, "fib/%s/%d", "tbb", 2);
    CHECK_INT(n.count, 3);
    CHECK(n.at[0] == 1 && n.at[1] == 2 && n.at[2] == 3);
    n = lab_values(r, LAB_MEDIANS, NULL, "fib/tbb/2"); /* of 1 and 2, and of 3 */
    CHECK(n.count == 2 && n.at[0] == 1.5 && n.at[1] == 3);
    n = lab_values(r, LAB_MEDIANS, "ns", "fib/tbb/2");
    CHECK(n.count == 1 && n.at[0] == 3.5);
    n = lab_values(r, LAB_METRIC, "ns", "fib/tbb/2");
    CHECK(n.count == 2 && n.at[1] == 4);
    n = lab_values(r, LAB_COUNTER, "stolen", "fib/tbb/2"); /* by two repetitions */
    CHECK(n.count == 1 && n.at[0] == 5);
    CHECK(lab_values(r, LAB_MEMBER, "size", "fib/tbb/2").count == 2);
    CHECK(strncmp(lab_analysis(r, "fib/tbb/2"), "{\"p\":0.5}", 9) == 0);
    CHECK_INT(lab_values(r, LAB_SAMPLES, NULL, "fib/tbb").count, 0);
    CHECK_INT(lab_values(r, LAB_SAMPLES, NULL, "fib/tbb/22").count, 0);
    CHECK_INT(lab_values(r, LAB_METRIC, "cpu", "fib/tbb/2").count, 0);
    CHECK(lab_analysis(r, "fib/tbb") == NULL);
    CHECK(lab_was_quick(r));
    CHECK_INT(lab_workers(r), 2);
    CHECK_INT(lab_rounds(r), 3);
    CHECK_STR(lab_args(r), "a b");
    journal_close(&journal);
}

/* An incomplete last line is removed, and the next line is written in its place. */
static void truncated_ends(void **state)
{
    (void)state;
    static const char *const ends[] = {
        "{",
        "{\"key\":\"a#1\",\"seconds\":0.25,\"report\":{\"size\":7,\"samples\":[3]}}", /* no \n */
        "nonsense\n",
        "{\"key\":\"fib/tbb/2#1\"}\n",
        "{\"key\":\"nothing\",\"seconds\":1,\"report\":{}}\n",
        "{\"key\":\"a#1\",\"seconds\":1,\"report\":7}\n",
        "\n\n",
    };
    write_log("");
    long good = size_of_file();
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        lab_journal journal;
        write_log(ends[i]);
        open_journal(&journal);
        CHECK_INT(journal.results->count, 1);
        CHECK_INT(size_of_file(), good);
        CHECK(!journal_append(&journal, second));
        journal_close(&journal);
        lab_results *r = journal_read(path);
        CHECK(r && r->count == 2);
        results_free(r);
    }
}

static void another_run_is_refused(void **state)
{
    (void)state;
    lab_journal journal;
    write_log("");
    const char *why = journal_open(&journal, path, other_head, false);
    CHECK(why && strstr(why, "\"rounds\":3;"));
    CHECK(!journal_open(&journal, path, other_head, true));
    CHECK_INT(journal.results->count, 0);
    journal_close(&journal);
}

static void one_writer_at_a_time(void **state)
{
    (void)state;
    lab_journal journal, again;
    unlink(path);
    open_journal(&journal);
    const char *why = journal_open(&again, path, head, false);
    CHECK(why && strstr(why, "another filch is writing it"));
    journal_close(&journal);
}

static void unwritable_files(void **state)
{
    (void)state;
    lab_journal journal;
    const char *why = journal_open(&journal, "/nonexistent/x.jsonl", head, false);
    CHECK(why && strstr(why, "/nonexistent/x.jsonl: No such file"));
    CHECK(!journal_in_memory(&journal, head));
    CHECK(journal_append(&journal, "nonsense") != NULL);
    journal_close(&journal);
    CHECK(journal_in_memory(&journal, "{}") != NULL);
    CHECK(journal_read("/nonexistent/x.jsonl") == NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(results_are_read_back), CHECK_TEST(values_by_name),
        CHECK_TEST(truncated_ends),        CHECK_TEST(another_run_is_refused),
        CHECK_TEST(one_writer_at_a_time),  CHECK_TEST(unwritable_files),
    };
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/x.jsonl", folder);
    int failed = CHECK_RUN(tests);
    unlink(path);
    rmdir(folder);
    return failed;
}
