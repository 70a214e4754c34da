/* merge_traces OUTPUT FILE...: merge the trace files as those of the ranks 0, 1, ...  Each rank
 * sends a loot to the next one 20 times, in the time that its trace covers. */
#include "observe/merged_trace.h"
#include "protocol/message.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 20, LOOTS = 20 };

/* From the head line: CLOCK_MONOTONIC at the start and at the end. */
static void read_times(const char *file, int64_t *start_ns, int64_t *end_ns)
{
    static char head[1024];
    FILE *in = fopen(file, "r");
    const char *start, *end;

    if (!in || !fgets(head, sizeof head, in) || !(start = strstr(head, "\"start ns\":")) ||
        !(end = strstr(head, "\"end ns\":"))) {
        fprintf(stderr, "%s has no times\n", file);
        exit(1);
    }
    *start_ns = strtoll(start + strlen("\"start ns\":"), NULL, 10);
    *end_ns = strtoll(end + strlen("\"end ns\":"), NULL, 10);
    fclose(in);
}

static void send_file(fi_merged_trace *m, const char *file)
{
    static char piece[PIECE];
    FILE *in = fopen(file, "r");
    size_t n;

    while (in && (n = fread(piece, 1, sizeof piece, in)) > 0)
        if (fi_merged_trace_append(m, piece, n) < 0)
            exit(1);
    if (in)
        fclose(in);
}

/* The time of loot i is relative to the trace of rank 0, and the same in both logs, up to 50 us. */
static void send_loots(fi_merged_trace *m, unsigned rank, unsigned ranks, const char *first)
{
    unsigned from = (rank + ranks - 1) % ranks;
    int64_t start_ns, end_ns;

    read_times(first, &start_ns, &end_ns);
    for (unsigned i = 0; i < LOOTS; i++) {
        int64_t ns = start_ns + (end_ns - start_ns) / LOOTS * i;
        fi_loot pair[2] = {{.ns = ns, .peer = (rank + 1) % ranks, .is_out = 1},
                           {.ns = ns + 50000, .peer = from}};
        for (int k = 0; k < 2; k++) {
            pair[k].number = i + 1;
            pair[k].bytes = UINT64_C(1000) * i;
            pair[k].kind = i % 4 == 0 ? FI_GIFT : FI_LOOT;
        }
        fi_merged_trace_loots(m, pair, 2);
    }
}

int main(int argc, char **argv)
{
    unsigned ranks = (unsigned)argc - 2;
    fi_merged_trace *m;

    if (argc < 3 || fi_merged_trace_open(&m, argv[1], ranks) < 0)
        return 1;
    for (unsigned i = 0; i < ranks; i++) {
        fi_trace_source source = {.rank = i, .pid = 1000 + (int)i, .host = "node7"};
        if (fi_merged_trace_rank(m, &source) < 0)
            return 1;
        send_file(m, argv[2 + i]);
        send_loots(m, i, ranks, argv[2]);
    }
    return fi_merged_trace_close(m) < 0;
}
