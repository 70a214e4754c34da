/* filch_invoke as users may write it, in C and in C++. */
#include <filch/algo.h>

static int calls[3];

static void first(void)
{
    calls[0]++;
}

static void second(void)
{
    calls[1]++;
}

static void third(void *ctx)
{
    (*(int *)ctx)++;
}

static void fourth(void *ctx)
{
    ((int *)ctx)[1]++;
}

int main(void)
{
    int seen[2] = {0, 0};

    filch_invoke(first);
    filch_invoke(first, &second);
    if (calls[0] == 2)
        filch_invoke_with(seen, third);
    else
        return 1;
    filch_invoke_with(&seen[0], third, fourth);
#ifdef __cplusplus
    filch_invoke([] { calls[2]++; });
    filch_invoke_with(nullptr, [](void *ctx) { calls[2] += ctx == nullptr; });
    if (calls[2] != 2)
        return 1;
#endif
    return seen[0] == 2 && seen[1] == 1 && calls[1] == 1 ? 0 : 1;
}
