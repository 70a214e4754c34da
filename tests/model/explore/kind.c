/* From a kind and a program to what the explorer runs. */
#include "explore/kind.h"

#include <string.h>

const kind *kind_now;
const program *program_now;

int program_threads(void)
{
    int n = 1;
    while (n <= MAX_THIEVES && program_now->thieves[n - 1])
        n++;
    return n;
}

const char *program_ops(int thread)
{
    return thread == 0 ? program_now->owner : program_now->thieves[thread - 1];
}

bool thread_has(int thread, const char *letters)
{
    return strpbrk(program_ops(thread), letters) != NULL;
}

bool program_has(const char *letters)
{
    for (int i = 0; i < program_threads(); i++)
        if (thread_has(i, letters))
            return true;
    return false;
}

static int count(const char *ops, int n, const char *letters)
{
    int found = 0;
    for (int i = 0; i < n && ops[i]; i++)
        found += strchr(letters, ops[i]) != NULL;
    return found;
}

int program_count(const char *letters, int thread, int index)
{
    int n = index > 0 ? count(program_ops(thread), index, letters) : 0;
    for (int i = 0; i < thread; i++)
        n += count(program_ops(i), (int)strlen(program_ops(i)), letters);
    return n;
}

/* Threads with as much left to do are in the same place. */
static void operate(int thread)
{
    const char *ops = program_ops(thread);
    for (int i = 0; ops[i]; i++) {
        operation op = {ops[i], thread, i, 256 * strlen(ops + i)};
        x_forget(op.position);
        kind_now->operate(&op);
    }
    x_forget(0);
}

static void run(int thread)
{
    if (kind_now->run)
        kind_now->run(thread);
    else
        operate(thread);
    if (thread == 0 && kind_now->at_end) {
        x_forget(1);
        x_join();
        kind_now->at_end();
    }
}

static const char *thread_name(int thread)
{
    return kind_now->threads[thread];
}

static const char *data_name(int datum)
{
    int i = 0;
    while (i < datum && i + 1 < MAX_NAMES && kind_now->data[i + 1])
        i++;
    return kind_now->data[i];
}

void kind_prepare(check *c, const kind *k, const program *p)
{
    kind_now = k;
    program_now = p;
    *c = (check){.threads = program_threads(),
                 .exchangeable = k->exchangeable,
                 .races = k->races,
                 .setup = k->setup,
                 .run = run,
                 .summary = k->summary,
                 .at_rest = k->at_rest,
                 .before_unlock = k->before_unlock,
                 .thread_name = thread_name,
                 .data_name = k->data[0] ? data_name : NULL,
                 .value_name = k->value_name};
    if (k->adjust)
        k->adjust(c);
}
